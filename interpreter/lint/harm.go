package lint

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// harm says what fixes would do beyond what they name, "" when nothing.
func (l *Linter) harm(p *Pass, in Input, findings []Finding, text []byte) string {
	in.Source = edited(in.Source, text)
	after := l.pass(in)
	if after.Inspection.Broken() {
		return "the text would no longer parse"
	}
	if d := newFault(p.Faults, after.Faults); d != nil {
		return "it would make a fault: " + d.Summary
	}
	if where := outlineDiffers(p, after, findings); where != "" {
		return "it would change " + where
	}
	if !formats(p.File.Name, text) {
		return "the result could not be formatted"
	}
	for _, f := range findings {
		if !f.Fix.Changes {
			if where := valuesDiffer(p, after); where != "" {
				return "it would change the value of " + where
			}
			break
		}
	}
	return ""
}

// newFault is a fault that was not there before.
func newFault(before, after hcl.Diagnostics) *hcl.Diagnostic {
	known := map[string]int{}
	for _, d := range before {
		known[d.Summary+d.Detail]++
	}
	for _, d := range after {
		if known[d.Summary+d.Detail]--; known[d.Summary+d.Detail] < 0 && d.Severity == hcl.DiagError {
			return d
		}
	}
	return nil
}

// formats says whether a text formats to one that reads the same.
func formats(name string, text []byte) bool {
	out, diags := syntax.Format(name, text)
	if diags.HasErrors() {
		return false
	}
	a, _ := syntax.Parse(name, text)
	b, _ := syntax.Parse(name, out)
	x, y := outline(a), outline(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].path != y[i].path || x[i].text != y[i].text {
			return false
		}
	}
	return true
}

// entry is an argument or block of a text: where it is in the structure, and
// how it reads.
type entry struct {
	path, text string
	at         hcl.Range
}

// outline lists what a text is made of, in order.
func outline(f *syntax.File) []entry {
	var list []entry
	var walk func(path string, body *hclsyntax.Body)
	walk = func(path string, body *hclsyntax.Body) {
		for _, a := range syntax.Attributes(body) {
			list = append(list, entry{path + a.Name, words(f, a.Expr.Range()), a.SrcRange})
		}
		for _, b := range body.Blocks {
			at := b.TypeRange
			at.End = b.CloseBraceRange.End
			name := path + strings.Join(append([]string{b.Type}, b.Labels...), " ")
			list = append(list, entry{name, "", at})
			walk(name+"/", b.Body)
		}
	}
	walk("", f.Body)
	return list
}

// words is how a range reads without blanks and comments.
func words(f *syntax.File, at hcl.Range) string {
	tokens, _ := hclsyntax.LexConfig(f.Bytes[at.Start.Byte:at.End.Byte], f.Name, hcl.InitialPos)
	var out bytes.Buffer
	for _, tok := range tokens {
		if tok.Type != hclsyntax.TokenNewline && tok.Type != hclsyntax.TokenComment {
			out.Write(tok.Bytes)
			out.WriteByte(0)
		}
	}
	return out.String()
}

// outlineDiffers names the first thing that reads otherwise although no edit
// touches it.
func outlineDiffers(before, after *Pass, findings []Finding) string {
	left := map[string]int{}
	for _, e := range outline(after.File) {
		left[e.path+"\x00"+e.text]++
	}
	loose := map[string]bool{} // what edits name, and the blocks around it
	for _, e := range outline(before.File) {
		if touched(findings, e.at) {
			loose[e.path] = true
		}
	}
	for _, e := range outline(before.File) {
		key := e.path + "\x00" + e.text
		if left[key]--; left[key] < 0 && !loose[e.path] {
			return describe(e)
		}
	}
	for key, n := range left {
		path, _, _ := strings.Cut(key, "\x00")
		if n > 0 && !loose[path] {
			return describe(entry{path: path})
		}
	}
	return ""
}

func describe(e entry) string { return strings.ReplaceAll(e.path, "/", ", ") }

// valuesDiffer names the first argument of a step that evaluates to something
// else.
func valuesDiffer(before, after *Pass) string {
	a, b := before.Steps(), after.Steps()
	if len(a) != len(b) {
		return fmt.Sprintf("%d steps instead of %d", len(b), len(a))
	}
	for i := range a {
		if a[i].Address != b[i].Address {
			return a[i].Address
		}
		if where := argumentsDiffer(a[i].Arguments, b[i].Arguments); where != "" {
			return a[i].Address + "." + where
		}
	}
	return ""
}

func argumentsDiffer(a, b *eval.Arguments) string {
	x, y := a.Args(), b.Args()
	if len(x) != len(y) {
		return "its arguments"
	}
	for i := range x {
		if x[i].Schema.Name != y[i].Schema.Name || x[i].Sensitive != y[i].Sensitive || !x[i].Value.RawEquals(y[i].Value) {
			return x[i].Schema.Name
		}
	}
	inner, other := a.Nested(), b.Nested()
	if len(inner) != len(other) {
		return "its blocks"
	}
	for i := range inner {
		if where := argumentsDiffer(inner[i], other[i]); where != "" {
			return where
		}
	}
	return ""
}
