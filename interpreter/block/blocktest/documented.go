package blocktest

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
)

// documented holds a type to its documentation: everything a recipe can write
// or read says what it is.
func (c Case) documented(t testing.TB) {
	typ := c.Type
	if typ.Name == "" || typ.Version < 1 {
		t.Errorf("name %q, version %d", typ.Name, typ.Version)
	}
	for part, text := range map[string]string{
		"Summary": typ.Doc.Summary, "Text": typ.Doc.Text, "Checks": typ.Doc.Checks, "Owns": typ.Doc.Owns, "Resets": typ.Doc.Resets,
	} {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s: Doc.%s is empty", typ.Name, part)
		}
	}
	documentedSchema(t, typ.Name, typ.Schema)
	example(t, typ)
	if (len(typ.Schema.Exports) > 0) != (typ.Exports != nil) {
		t.Errorf("%s: Exports and Schema.Exports do not belong together", typ.Name)
	}
	if typ.Exports != nil {
		c.exports(t)
	}
}

func documentedSchema(t testing.TB, at string, s block.Schema) {
	t.Helper()
	for _, a := range append(append([]block.Attr(nil), s.Attrs...), s.Exports...) {
		if strings.TrimSpace(a.Doc) == "" {
			t.Errorf("%s.%s has no documentation", at, a.Name)
		}
		if a.Name != strings.ToLower(a.Name) || a.Name == "" {
			t.Errorf("%s: the name %q is not in lower case", at, a.Name)
		}
	}
	for _, n := range s.Blocks {
		if strings.TrimSpace(n.Doc) == "" {
			t.Errorf("%s.%s has no documentation", at, n.Name)
		}
		documentedSchema(t, at+"."+n.Name, n.Schema)
	}
}

// example must parse and show the block.
func example(t testing.TB, typ *block.Type) {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(typ.Example), typ.Name+"/example.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("the example: %v", diags)
	}
	if !shows(file.Body.(*hclsyntax.Body), typ.Name) {
		t.Errorf("the example of %s does not use it", typ.Name)
	}
}

func shows(body *hclsyntax.Body, name string) bool {
	for _, b := range body.Blocks {
		if b.Type == name || shows(b.Body, name) {
			return true
		}
	}
	return false
}

func (c Case) exports(t testing.TB) {
	t.Helper()
	values, err := c.Type.Exports(c.args(t))
	if err != nil {
		t.Fatalf("exports: %v", err)
	}
	for _, a := range c.Type.Schema.Exports {
		v, ok := values[a.Name]
		if !ok || !v.Value.Type().Equals(a.Type) {
			t.Errorf("export %s is %#v, want a value of type %s", a.Name, v.Value, a.Type.FriendlyName())
		}
	}
	if len(values) != len(c.Type.Schema.Exports) {
		t.Errorf("there are %d exports and %d are documented", len(values), len(c.Type.Schema.Exports))
	}
}
