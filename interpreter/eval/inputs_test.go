package eval

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInputsFiles keeps files with secrets out of what diagnostics show.
func TestInputsFiles(t *testing.T) {
	r := load(t, testVocabulary(), `
variable "a" { default = 1 }
variable "token" {
  type      = list(string)
  sensitive = true
}
`)
	in, diags := r.Inputs([]Given{
		{Strength: FromFile, Filename: "plain.hcl", Text: []byte("a = 2\n")},
		{Strength: FromFile, Filename: "secret.hcl", Text: []byte("a = 3\ntoken = [\"x\"]\n")},
		{Strength: FromFile, Filename: "broken.json", Text: []byte("{")},
		{Strength: FromEnvironment, Name: "a", Text: []byte("4")},
		{Strength: FromFlag, Name: "token", Text: []byte("[canary")},
		{Strength: FromCredential, Name: "token", Text: []byte("[\"y\"]")},
	})
	var names []string
	for name := range in.Files() {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"HOSTLER_VAR_a", "plain.hcl"}, names); diff != "" {
		t.Error(diff)
	}
	if !in.Given("token") || in.Given("b") || strings.Contains(diagnosticsText(diags), "canary") {
		t.Error(diagnosticsText(diags))
	}
	if diff := cmp.Diff(map[string]json.RawMessage{"a": json.RawMessage("3")}, r.Plain(in)); diff != "" {
		t.Error(diff)
	}
}

// TestInputsBounds holds JSON inputs to a size and a depth.
func TestInputsBounds(t *testing.T) {
	r := load(t, testVocabulary(), "variable \"a\" {}\n")
	for _, text := range []string{
		`{"a": ` + strings.Repeat("[", 500000) + strings.Repeat("]", 500000) + "}",
		`{"a": "` + strings.Repeat("x", maxInputs) + `"}`, `"x"`, `1.5`, "", `{"a": 1, "a": 2}`,
	} {
		_, diags := r.Inputs([]Given{{Strength: FromFile, Filename: "x.json", Text: []byte(text)}})
		if !diags.HasErrors() {
			t.Errorf("%.20s is taken for inputs", text)
		}
	}
	in, diags := r.Inputs([]Given{{Strength: FromFile, Filename: "x.json", Text: []byte("\xef\xbb\xbf{\"a\": \"é\"}")}})
	if diags.HasErrors() || string(r.Plain(in)["a"]) != `"é"` {
		t.Errorf("with a byte-order mark: %s%s", r.Plain(in), diagnosticsText(diags))
	}
	// The decoder would put another character there.
	_, diags = r.Inputs([]Given{{Strength: FromFile, Filename: "x.json", Text: []byte("{\"a\": \"caf\xe9\"}")}})
	if len(diags) != 1 || diags[0].Summary != "Invalid UTF-8" {
		t.Error(diagnosticsText(diags))
	}
	_, diags = r.Inputs([]Given{{Strength: FromFlag, Name: "a", Text: []byte{0xff}}})
	if len(diags) != 1 || diags[0].Summary != "Value is not text" {
		t.Error(diagnosticsText(diags))
	}
}
