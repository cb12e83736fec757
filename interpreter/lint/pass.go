package lint

import (
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// Pass is one recipe as the rules see it. Everything in it is worked out once
// and shared; rules change nothing.
type Pass struct {
	Recipe     *eval.Recipe
	Inspection *eval.Inspection
	File       *syntax.File
	Vocabulary block.Vocabulary
	// Faults are what validation found.
	Faults hcl.Diagnostics
	// Tested says that the recipe has tests.
	Tested bool

	source    eval.Source
	rule      *Rule
	findings  []Finding
	positions syntax.Positions
	assets    map[string]asset
	locals    map[string]hclsyntax.Expression
	own       []*eval.Inspected
	units     []*Unit
	written   []*Written
	texts     map[hcl.Range]Text
	nodes     []node
}

// Report notes a finding of the rule that is being checked, whose name, summary
// and severity are filled in.
func (p *Pass) Report(f Finding) {
	f.Rule, f.Summary, f.Severity = p.rule.Name, p.rule.Summary, p.rule.Severity
	p.findings = append(p.findings, f)
}

// Found makes a finding about a step.
func Found(s *eval.Inspected, at hcl.Range, format string, args ...any) Finding {
	return Finding{Range: at, Address: s.Address, step: s.Header, Detail: fmt.Sprintf(format, args...)}
}

// With is the finding with a fix.
func (f Finding) With(fix Fix) Finding {
	f.Fix = &fix
	return f
}

// Hidden is the finding without the line that it is about, which holds a secret.
func (f Finding) Hidden() Finding {
	f.Secret = true
	return f
}

// Reportf notes a finding at a range.
func (p *Pass) Reportf(at hcl.Range, format string, args ...any) {
	p.Report(Finding{Range: at, Detail: fmt.Sprintf(format, args...)})
}

// ReportStep notes a finding about a step.
func (p *Pass) ReportStep(s *eval.Inspected, at hcl.Range, format string, args ...any) {
	p.Report(Found(s, at, format, args...))
}

// Claim notes a finding that says better what a fault of validation says: one
// with such a summary at an overlapping place, or about the step as a whole, is
// left out while the finding stands.
func (p *Pass) Claim(f Finding, summaries ...string) {
	f.claims = summaries
	p.Report(f)
}

// Warn is Report with the severity Warning, for rules whose severity is higher,
// where it is not certain.
func (p *Pass) Warn(f Finding) {
	p.Report(f)
	p.findings[len(p.findings)-1].Severity = Warning
}

// Steps are the steps that are written in the recipe itself.
func (p *Pass) Steps(types ...string) []*eval.Inspected {
	if p.own == nil {
		for _, s := range p.Inspection.Steps {
			if !s.Used && s.Block != nil {
				p.own = append(p.own, s)
			}
		}
	}
	if len(types) == 0 {
		return p.own
	}
	var list []*eval.Inspected
	for _, s := range p.own {
		if slices.Contains(types, s.Type.Name) {
			list = append(list, s)
		}
	}
	return list
}

// Blocks are the blocks of a type at the top level.
func (p *Pass) Blocks(types ...string) []*hclsyntax.Block {
	var list []*hclsyntax.Block
	for _, b := range p.File.Body.Blocks {
		if slices.Contains(types, b.Type) {
			list = append(list, b)
		}
	}
	return list
}

// Header is the recipe block, nil when there is none.
func (p *Pass) Header() *hclsyntax.Block {
	for _, b := range p.Blocks("recipe") {
		return b
	}
	return nil
}

// Locals are the attributes of the locals blocks, in order.
func (p *Pass) Locals() []*hclsyntax.Attribute {
	var list []*hclsyntax.Attribute
	for _, b := range p.Blocks("locals") {
		list = append(list, syntax.Attributes(b.Body)...)
	}
	return list
}

// local is the expression of a local, nil when there is none.
func (p *Pass) local(name string) hclsyntax.Expression {
	if p.locals == nil {
		p.locals = map[string]hclsyntax.Expression{}
		for _, a := range p.Locals() {
			p.locals[a.Name] = a.Expr
		}
	}
	return p.locals[name]
}

// Source is the text of a range of the recipe's file.
func (p *Pass) Source(r hcl.Range) string {
	if r.Filename != p.File.Name || r.End.Byte > len(p.File.Bytes) || r.Start.Byte > r.End.Byte {
		return ""
	}
	return string(p.File.Bytes[r.Start.Byte:r.End.Byte])
}

// Span is the range of two offsets in the recipe's file.
func (p *Pass) Span(from, to int) hcl.Range { return p.positions.Span(from, to) }

// asset is a file of the recipe.
type asset struct {
	name      string // as ranges show it
	positions syntax.Positions
	bytes     []byte
	err       error
}

// asset reads a file of the recipe, once.
func (p *Pass) asset(name string) asset {
	if a, ok := p.assets[name]; ok {
		return a
	}
	var a asset
	a.bytes, a.err = p.source.ReadFile(name)
	if a.err == nil {
		a.name = path.Join(path.Dir(p.source.Name()), name)
		a.positions = syntax.NewPositions(a.name, a.bytes)
	}
	p.assets[name] = a
	return a
}
