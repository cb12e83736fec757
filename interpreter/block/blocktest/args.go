package blocktest

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"hostler/interpreter/block"
)

// Assets are the files of a recipe, by name.
type Assets map[string]string

// ReadFile returns a file.
func (a Assets) ReadFile(name string) ([]byte, error) {
	text, ok := a[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// Args evaluates the body of a block, as it is written in a recipe but without
// functions and references, to arguments. A fault ends the test.
func Args(t testing.TB, typ *block.Type, fragment string) block.Args {
	t.Helper()
	args, diags := Decode(typ.Schema, fragment)
	if diags.HasErrors() {
		t.Fatalf("the body of %s: %v", typ.Name, diags)
	}
	return args
}

// Step makes the step of a block's body. A fault ends the test.
func Step(t testing.TB, typ *block.Type, fragment string) block.Step {
	t.Helper()
	return StepOf(t, typ, Args(t, typ, fragment))
}

// StepOf makes the step of arguments. A fault ends the test.
func StepOf(t testing.TB, typ *block.Type, args block.Args) block.Step {
	t.Helper()
	step, diags := typ.New(args)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", typ.Name, diags)
	}
	return step
}

// Faults are the errors of a block's body, of its decoding and of the type
// itself, one a line: "attribute-or-line: summary: detail". "" means none.
func Faults(typ *block.Type, fragment string) string {
	args, diags := Decode(typ.Schema, fragment)
	if !diags.HasErrors() {
		_, diags = typ.New(args)
	}
	var lines []string
	for _, d := range diags {
		line := 0
		if d.Subject != nil {
			line = d.Subject.Start.Line
		}
		lines = append(lines, fmt.Sprintf("line %d: %s: %s", line, d.Summary, d.Detail))
	}
	return strings.Join(lines, "\n")
}

// Decode evaluates the body of a block against a schema.
func Decode(s block.Schema, fragment string) (block.Args, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig([]byte(fragment), "recipe.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return block.Args{}, diags
	}
	d := decoder{ranges: map[string]hcl.Range{"": file.Body.MissingItemRange()}}
	value := d.object(s, nil, file.Body.(*hclsyntax.Body), "")
	return block.Args{Address: "test.step", Label: "step", Value: value, Ranges: d.ranges}, d.diags
}

type decoder struct {
	ranges map[string]hcl.Range
	diags  hcl.Diagnostics
}

func (d *decoder) fault(at hcl.Range, summary, detail string) {
	d.diags = append(d.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

func (d *decoder) object(s block.Schema, extra map[string]cty.Value, body *hclsyntax.Body, at string) cty.Value {
	vals := map[string]cty.Value{}
	known := map[string]bool{}
	for _, a := range s.Attrs {
		known[a.Name] = true
		vals[a.Name] = d.attr(a, body.Attributes[a.Name], body.MissingItemRange(), at+a.Name)
	}
	for name, value := range extra {
		vals[name] = value
	}
	for name, attr := range body.Attributes {
		if !known[name] {
			d.fault(attr.NameRange, "Unsupported argument", name+" is no argument here.")
		}
	}
	placed := positions(s, body)
	for _, n := range s.Blocks {
		known[n.Name] = true
		if !n.Steps {
			vals[n.Name] = d.blocks(n, body, placed, at+n.Name)
		}
	}
	for _, b := range body.Blocks {
		if !known[b.Type] {
			d.fault(b.TypeRange, "Unsupported block", b.Type+" is no block here.")
		}
	}
	return cty.ObjectVal(vals)
}

// positions numbers the nested blocks whose order matters.
func positions(s block.Schema, body *hclsyntax.Body) map[*hclsyntax.Block]int {
	ordered := map[string]bool{}
	for _, n := range s.Blocks {
		ordered[n.Name] = n.Actions
	}
	placed := map[*hclsyntax.Block]int{}
	for _, b := range body.Blocks {
		if ordered[b.Type] {
			placed[b] = len(placed)
		}
	}
	return placed
}

func (d *decoder) blocks(n block.Nested, body *hclsyntax.Body, placed map[*hclsyntax.Block]int, at string) cty.Value {
	var vals []cty.Value
	for _, b := range body.Blocks {
		if b.Type != n.Name {
			continue
		}
		if len(b.Labels) != len(n.Labels) {
			d.fault(b.TypeRange, "Labels", fmt.Sprintf("%s takes %d labels.", n.Name, len(n.Labels)))
			continue
		}
		extra := map[string]cty.Value{}
		for i, label := range n.Labels {
			extra[label] = cty.StringVal(b.Labels[i])
		}
		if n.Actions {
			extra["position"] = cty.NumberIntVal(int64(placed[b]))
		}
		if n.PerSlot {
			extra["slot"] = cty.StringVal("")
		}
		here := fmt.Sprintf("%s[%d].", at, len(vals))
		d.ranges[strings.TrimSuffix(here, ".")] = b.TypeRange
		vals = append(vals, d.object(n.Schema, extra, b.Body, here))
	}
	if len(vals) < n.Min || (n.Max > 0 && len(vals) > n.Max) {
		d.fault(body.MissingItemRange(), "Number of blocks", fmt.Sprintf("%s is written %d times.", n.Name, len(vals)))
	}
	if len(vals) == 0 {
		return cty.ListValEmpty(block.Schema{Blocks: []block.Nested{n}}.Type().AttributeType(n.Name).ElementType())
	}
	return cty.ListVal(vals)
}

func (d *decoder) attr(a block.Attr, written *hclsyntax.Attribute, missing hcl.Range, at string) cty.Value {
	value := cty.NullVal(a.Type)
	where := missing
	if written != nil {
		var diags hcl.Diagnostics
		value, diags = written.Expr.Value(nil)
		where = written.Expr.Range()
		d.ranges[at] = where
		if d.diags = append(d.diags, diags...); diags.HasErrors() {
			return cty.NullVal(a.Type)
		}
	}
	value, err := settle(a, value)
	if err != nil {
		d.fault(where, "Invalid "+a.Name, err.Error())
		return cty.NullVal(a.Type)
	}
	return value
}

// settle brings a value to the attribute's type, default and rules.
func settle(a block.Attr, value cty.Value) (cty.Value, error) {
	var err error
	if a.Convert != nil && !value.IsNull() {
		if value, err = a.Convert(value); err != nil {
			return value, err
		}
	}
	if value, err = convert.Convert(value, a.Type); err != nil {
		return value, err
	}
	if value.IsNull() {
		if a.Default != cty.NilVal {
			return a.Default, nil
		}
		if a.Required {
			return value, fmt.Errorf("%s is required", a.Name)
		}
		return cty.NullVal(a.Type), nil
	}
	if a.Check != nil {
		err = a.Check(value)
	}
	return value, err
}
