package eval

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// TestFunctions holds every function of the language to having a description.
func TestFunctions(t *testing.T) {
	all := Functions(block.Vocabulary{Functions: testFunctions})
	for _, name := range append(lookupNames[:], "ownership", "fingerprint", "artifact_identity") {
		f, ok := all[name]
		if !ok || f.Description() == "" {
			t.Errorf("%s is not described", name)
		}
	}
	args := map[string][]cty.Value{"unit_state": {cty.StringVal("a.service")}, "ownership": {}}
	for _, name := range append(lookupNames[:], "ownership") {
		in, ok := args[name]
		if !ok {
			in = []cty.Value{cty.StringVal("/x")}
		}
		if v, err := all[name].Call(in); err != nil || v.IsKnown() {
			t.Errorf("%s() knows %#v without a host, %v", name, v, err)
		}
	}
	if _, err := all["fingerprint"].Call([]cty.Value{cty.EmptyObjectVal}); err == nil {
		t.Error("fingerprint() answers outside of a recipe")
	}
	if _, err := all["file"].Call([]cty.Value{cty.StringVal("x")}); err == nil {
		t.Error("file() reads without a recipe")
	}
}

func TestFactNames(t *testing.T) {
	f := factsValue(debian(), "/opt")
	if !f.Type().Equals(factsType) || !unknownFacts().Type().Equals(factsType) {
		t.Errorf("type of facts: %#v", f.Type())
	}
	for name, doc := range FactNames() {
		v := f
		for _, part := range strings.Split(name, ".")[1:] {
			v = v.GetAttr(part)
		}
		if !v.IsWhollyKnown() || doc == "" {
			t.Errorf("%s: %#v, %q", name, v, doc)
		}
	}
	if n := len(factsType.AttributeTypes()) - 1 + len(factsType.AttributeType("os").AttributeTypes()); n != len(FactNames()) {
		t.Errorf("%d facts, %d names", n, len(FactNames()))
	}
}

// TestDescription holds a recipe to telling about itself.
func TestDescription(t *testing.T) {
	files := fstest.MapFS{
		"tree/recipe.hcl": {Data: []byte(minimal + `
variable "b" {
  type        = number
  description = "the b"
  default     = 2
}
variable "a" {
  sensitive = true
  nullable  = false
}
output "o" {
  value       = 1
  description = "the o"
}
use "base" { source = "./base" }
use "again" { source = "./base" }
stage "two" {}
stage "one" { description = "first" }
`)},
		"tree/base/recipe.hcl": {Data: []byte(strings.Replace(minimal, "demo", "base", 1))},
	}
	r, diags := Load(Tree("", fsub(files), "."), testVocabulary(), StandardLoader{}, "")
	if len(diags) > 0 {
		t.Fatal(diagnosticsText(diags))
	}
	vars := r.Variables()
	if len(vars) != 2 || vars[0].Name != "b" || vars[0].Type != cty.Number || vars[0].Required || vars[0].Description != "the b" ||
		!vars[1].Sensitive || vars[1].Nullable || !vars[1].Required {
		t.Errorf("%+v", vars)
	}
	if o := r.Outputs(); len(o) != 1 || o[0].Description != "the o" || o[0].Value != cty.NilVal {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]Stage{{"two", ""}, {"one", "first"}}, r.Stages()); diff != "" {
		t.Error(diff)
	}
	if h := r.Header(); h.Name != "demo" || h.Language != 1 || len(h.Supports) != 1 {
		t.Errorf("%+v", h)
	}
	if s := r.Sources(); len(s) != 2 || s[1].Name() != "base/recipe.hcl" {
		t.Errorf("%+v", s)
	}
	if f := r.Files(); len(f) != 2 || f["base/recipe.hcl"] == nil {
		t.Errorf("%+v", f)
	}
}

func TestUnsupported(t *testing.T) {
	r := load(t, testVocabulary(), "")
	if _, diags := r.Evaluate(Inputs{}, live()); Unsupported(diags) {
		t.Error("a host that any recipe supports is not supported")
	}
	files := fstest.MapFS{"tree/recipe.hcl": {Data: []byte(strings.Replace(minimal, "{}", "{ id = \"fedora\" }", 1))}}
	r, _ = Load(Tree("", fsub(files), "."), testVocabulary(), nil, "")
	program, diags := r.Evaluate(Inputs{}, live())
	if !Unsupported(diags) || program.Support != nil {
		t.Error(diagnosticsText(diags))
	}
	env := live()
	env.Facts.OS = host.OSRelease{}
	if _, diags = r.Evaluate(Inputs{}, env); !strings.Contains(diagnosticsText(diags), "no os-release") {
		t.Error(diagnosticsText(diags))
	}
}

// TestFunctionNames holds the language's own functions to winning over those
// of a vocabulary.
func TestFunctionNames(t *testing.T) {
	vocab := testVocabulary()
	vocab.Functions = func(a block.Assets) map[string]function.Function {
		all := testFunctions(a)
		all["file_exists"] = all["upper"]
		return all
	}
	r := load(t, vocab, "output \"o\" { value = file_exists(\"/x\") }\n")
	env := live()
	env.Lookups = Lookups{Files: &fakeLookups{Files: map[string]string{"/x": ""}}}
	program, _ := r.Evaluate(Inputs{}, env)
	if !program.Outputs[0].Value.RawEquals(cty.True) {
		t.Errorf("%#v", program.Outputs[0].Value)
	}
}
