package rehearse_test

import (
	"slices"
	"testing"

	"hostler/builtins"
	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse"
)

// TestConsoleCompletes: what is typed last is completed from names and
// functions.
func TestConsoleCompletes(t *testing.T) {
	lang := rehearse.Language{Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}}
	c, err := rehearse.NewConsole(t.Context(), lang, rehearse.Subject{}, rehearse.Image{})
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string][]string{
		"upper(host.os.i": {"upper(host.os.id", "upper(host.os.id_like"},
		"base64g":         {"base64gzip("},
		"1 + ":            nil,
		"nosuch":          nil,
	} {
		if got := c.Complete(typed); !slices.Equal(got, want) {
			t.Errorf("%q is completed to %q, want %q", typed, got, want)
		}
	}
}

// TestUnfinished: an expression goes on until all that it opens is closed.
func TestUnfinished(t *testing.T) {
	for text, want := range map[string]bool{
		"1 + 1\n": false, "[\n": true, "[1,\n2]\n": false, "{ a = (\n": true, "f(\"${[\n": true, "<<X\ntext\n": true, "<<X\ntext\nX\n": false, "\"a\"\n": false, "]\n": false,
	} {
		if got := rehearse.Unfinished(text); got != want {
			t.Errorf("%q is unfinished: %v", text, got)
		}
	}
}
