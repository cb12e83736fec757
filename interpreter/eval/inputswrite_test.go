package eval

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// TestInputsFileRoundTrips: what is written is read as the same values, whatever
// is in them, secrets and nulls too; what was not given stays away.
func TestInputsFileRoundTrips(t *testing.T) {
	r := load(t, testVocabulary(), `
variable "text" { type = string }
variable "number" { type = number }
variable "flag" { type = bool }
variable "token" {
  type      = string
  sensitive = true
}
variable "names" {
  type     = set(string)
  nullable = true
  default  = null
}
variable "sites" { type = map(object({ rank = number, tags = optional(list(string)) })) }
variable "any" {}
variable "absent" { default = 1 }
`)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"${x}", "%{ if }", "$${", "a\nb\n", "\x00\x1b", `"\`, "EOT\n", "é", "true", "12"}))
		wide := rapid.Custom(func(t *rapid.T) cty.Value { return cty.StringVal(word.Draw(t, "word")) })
		number := rapid.Custom(func(t *rapid.T) cty.Value {
			return cty.MustParseNumberVal(rapid.SampledFrom([]string{"0", "-1", "0.1", "18446744073709551616", "3.14159265358979323846264338327950288", "1e400"}).Draw(t, "n"))
		})
		site := rapid.Custom(func(t *rapid.T) cty.Value {
			tags := cty.NullVal(cty.List(cty.String))
			if rapid.Bool().Draw(t, "tagged") {
				tags = cty.ListVal([]cty.Value{wide.Draw(t, "tag"), wide.Draw(t, "tag")})
			}
			return cty.ObjectVal(map[string]cty.Value{"rank": number.Draw(t, "rank"), "tags": tags})
		})
		in := Inputs{values: map[string]cty.Value{
			"text": wide.Draw(t, "text"), "number": number.Draw(t, "number"), "flag": cty.BoolVal(rapid.Bool().Draw(t, "flag")),
			"token": wide.Draw(t, "token"), "names": cty.NullVal(cty.Set(cty.String)),
			"sites": cty.MapVal(map[string]cty.Value{wide.Draw(t, "key").AsString(): site.Draw(t, "site")}),
			"any":   cty.TupleVal([]cty.Value{wide.Draw(t, "any"), number.Draw(t, "any"), cty.EmptyObjectVal}),
		}}
		if names := rapid.SliceOfN(wide, 0, 3).Draw(t, "names"); len(names) > 0 {
			in.values["names"] = cty.SetVal(names)
		}
		text := r.InputsFile(in)
		again, diags := r.Inputs([]Given{{Strength: FromFile, Filename: "inputs.hcl", Text: text}})
		if diags.HasErrors() {
			t.Fatalf("%s\n%s", diagnosticsText(diags), text)
		}
		if !maps.EqualFunc(in.values, again.values, func(a, b cty.Value) bool { return a.RawEquals(b) }) {
			t.Fatalf("%#v came back as %#v from\n%s", in.values, again.values, text)
		}
	})
	if text := r.InputsFile(Inputs{}); text != nil {
		t.Errorf("nothing was given: %q", text)
	}
}

// TestAssetNames: everything below files, and nothing else; a recipe without is
// one.
func TestAssetNames(t *testing.T) {
	tree := fsub(fstest.MapFS{
		"tree/recipe.hcl": {}, "tree/files/a": {}, "tree/files/b/c": {}, "tree/tests/x.test.hcl": {}, "tree/notes": {},
		"tree/bare/recipe.hcl": {}, "tree/used/recipe.hcl": {}, "tree/used/files/d": {},
	})
	for dir, want := range map[string]string{".": "files/a files/b/c", "used": "files/d", "bare": ""} {
		names, err := AssetNames(Tree("", tree, dir))
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %q %v", dir, got, err)
		}
	}
	if names, err := AssetNames(nil); err != nil || names != nil {
		t.Errorf("no tree: %v %v", names, err)
	}
}
