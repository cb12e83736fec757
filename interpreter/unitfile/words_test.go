package unitfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/unitfile"
)

func TestSplitOneExec(t *testing.T) {
	cases := []struct {
		value, prefixes string
		argv            []string
		err             string
	}{
		{value: "/bin/a", argv: []string{"/bin/a"}},
		{value: "a  b\tc", argv: []string{"a", "b", "c"}},
		{value: "-@/bin/a arg0 b", prefixes: "-@", argv: []string{"/bin/a", "arg0", "b"}},
		{value: "!!/bin/a", prefixes: "!!", argv: []string{"/bin/a"}},
		{value: "|+a", prefixes: "|+", argv: []string{"a"}},
		{value: `/bin/sh -c "echo 'x y' $HOME %i"`, argv: []string{"/bin/sh", "-c", "echo 'x y' $HOME %i"}},
		{value: `a 'b "c"' d"e f"g ""`, argv: []string{"a", `b "c"`, "de fg", ""}},
		{value: `a \x41\101\u00e9\U0001F600\n\s\\ x`, argv: []string{"a", "AAé😀\n \\", "x"}},
		{value: `a \q \x4 \x00 \777 \`, argv: []string{"a", `\q`, `\x4`, `\x00`, `\777`, `\`}},
		{value: `a b\;c \; ";"`, argv: []string{"a", `b\;c`, ";", ";"}},
		{value: "%h/bin/a", argv: []string{"%h/bin/a"}},
		{value: "-", err: "names no program"},
		{value: "/bin/", err: "directory"},
		{value: "bin/a", err: "relative"},
		{value: `a "b`, err: `quote " is not closed`},
		{value: "a 'b", err: "quote ' is not closed"},
	}
	for _, c := range cases {
		commands, err := unitfile.SplitExecs(c.value)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.value, err, c.err)
			}
			continue
		}
		if want := []unitfile.Command{{Prefixes: c.prefixes, Argv: c.argv}}; err != nil || !cmp.Equal(commands, want) {
			t.Errorf("%q: %q %v, want %q", c.value, commands, err, want)
		}
	}
}

func TestSplitExecs(t *testing.T) {
	got, err := unitfile.SplitExecs("/a x ; -/b ; /c \\;")
	want := []unitfile.Command{{Argv: []string{"/a", "x"}}, {Prefixes: "-", Argv: []string{"/b"}}, {Argv: []string{"/c", ";"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, value := range []string{"", "  "} {
		if got, err := unitfile.SplitExecs(value); len(got) != 0 || err != nil {
			t.Errorf("%q: %q %v", value, got, err)
		}
	}
	if _, err := unitfile.SplitExecs("/a ; bin/b"); err == nil {
		t.Error("a bad second command must be an error")
	}
}

func TestWords(t *testing.T) {
	got, err := unitfile.Words(`a\x2db.service "c d" 'e'\"f g\`)
	want := []string{`a\x2db.service`, "c d", `e\"f`, `g\`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestSpecifiers(t *testing.T) {
	got := unitfile.Specifiers("%n a%%b %Z 100%")
	want := []unitfile.Specifier{{'n', 0}, {'Z', 8}, {0, 14}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !unitfile.KnownSpecifier('i') || unitfile.KnownSpecifier('Z') || unitfile.KnownSpecifier(0) {
		t.Error("KnownSpecifier")
	}
	if unitfile.EscapeSpecifiers("50% %i") != "50%% %%i" || len(unitfile.Specifiers(unitfile.EscapeSpecifiers("50% %i"))) != 0 {
		t.Error("EscapeSpecifiers")
	}
}
