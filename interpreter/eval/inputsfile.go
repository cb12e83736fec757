package eval

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"hostler/interpreter/syntax"
)

// maxInputs bounds an inputs file, in bytes.
const maxInputs = 1 << 20

// takeFile takes the values of an inputs file. A file is shown in diagnostics
// only when nothing in it is sensitive.
func (t *taking) takeFile(g Given) {
	attrs, file := t.parseFile(g)
	if file == nil {
		t.in.unread = true
	}
	secret := false
	for _, a := range attrs {
		if v := t.r.variable(a.Name); v == nil || v.Sensitive {
			secret = true
		}
	}
	if file != nil && !secret {
		t.in.files[g.Filename] = file
	}
	for _, a := range attrs {
		t.takeAttribute(a)
	}
}

func (t *taking) takeAttribute(a *hcl.Attribute) {
	v := t.r.variable(a.Name)
	if t.skips(v) {
		return
	}
	if v == nil {
		t.undeclared(a.NameRange, a.Name)
		return
	}
	at := a.Expr.Range()
	if v.Sensitive {
		at = a.NameRange
	}
	val, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		for _, d := range diags {
			d.Expression, d.EvalContext = nil, nil
			if v.Sensitive {
				d.Subject, d.Context, d.Detail = &at, nil, "The value is no constant."
			}
		}
		if len(a.Expr.Variables()) > 0 || diags[0].Summary == "Function calls not allowed" {
			diags = hcl.Diagnostics{fault(at, "Value is not constant", "Inputs are constants: %s can refer to nothing and call no function. Text stands in double quotes.", a.Name)}
		}
		t.add(diags...)
		t.in.refused[v.Name] = true
		return
	}
	t.accept(v, val, at)
}

// parseFile returns the attributes of an inputs file in the order written; file
// is nil when it could not be read.
func (t *taking) parseFile(g Given) ([]*hcl.Attribute, *hcl.File) {
	if path.Ext(g.Filename) == ".json" {
		return t.parseJSON(g)
	}
	parsed, diags := syntax.Parse(g.Filename, g.Text)
	t.addUnquoted(diags)
	if diags.HasErrors() {
		return nil, nil
	}
	t.add(syntax.DuplicateKeys(parsed)...)
	for _, b := range parsed.Body.Blocks {
		t.errorf(b.DefRange(), "Block in inputs", "Inputs are written as NAME = VALUE. Write %s = … .", b.Type)
	}
	var attrs []*hcl.Attribute
	for _, a := range syntax.Attributes(parsed.Body) {
		attrs = append(attrs, a.AsHCLAttribute())
	}
	return attrs, &hcl.File{Bytes: parsed.Bytes, Body: parsed.Body}
}

func (t *taking) parseJSON(g Given) ([]*hcl.Attribute, *hcl.File) {
	at := textRange(g.Filename, nil)
	if len(g.Text) > maxInputs {
		t.errorf(at, "Inputs too large", "The file has more than %d bytes, which is the most.", maxInputs)
		return nil, nil
	}
	text, diags := syntax.Text(g.Filename, g.Text)
	if diags.HasErrors() {
		t.addUnquoted(diags)
		return nil, nil
	}
	// The decoder bounds nesting, which the parser with ranges does not.
	var probe map[string]json.RawMessage
	if err := json.Unmarshal(text, &probe); err != nil && !isSyntaxError(err) {
		t.errorf(at, "Invalid inputs", "The file must hold one JSON object, { \"NAME\": VALUE }: %s.", jsonText(err))
		return nil, nil
	}
	file, diags := hcljson.Parse(text, g.Filename)
	t.addUnquoted(diags)
	if diags.HasErrors() {
		return nil, nil
	}
	byName, diags := file.Body.JustAttributes()
	t.add(diags...)
	var attrs []*hcl.Attribute
	for _, a := range byName {
		attrs = append(attrs, a)
	}
	slices.SortFunc(attrs, func(a, b *hcl.Attribute) int { return a.Range.Start.Byte - b.Range.Start.Byte })
	return attrs, file
}

// isSyntaxError says whether the parser with ranges reports the error better.
func isSyntaxError(err error) bool {
	e, ok := err.(*json.SyntaxError)
	return ok && !strings.Contains(e.Error(), "max depth")
}

// jsonText leaves values out of the decoder's messages.
func jsonText(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		kind, _, _ := strings.Cut(e.Value, " ")
		return "what is there is of type " + kind
	}
	return err.Error()
}

// addUnquoted adds diagnostics about the syntax of inputs. Their texts may
// quote the file, so they are replaced where that may hold a secret.
func (t *taking) addUnquoted(diags hcl.Diagnostics) {
	if len(t.r.sensitiveNames()) > 0 {
		for _, d := range diags {
			d.Detail = "The text is not valid here. It may hold a secret and is not shown."
		}
	}
	t.add(diags...)
}
