package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// readParts reads the steps nested in the phases of a step.
func (r *Recipe) readParts(s *step, body *hclsyntax.Body) {
	for i := range s.typ.Phases {
		phase := &s.typ.Phases[i]
		if !phase.Steps {
			continue
		}
		for _, b := range body.Blocks {
			if b.Type == phase.Name {
				r.readPart(s, phase, b)
			}
		}
	}
}

func (r *Recipe) readPart(s *step, phase *block.Phase, b *hclsyntax.Block) {
	for _, rng := range b.LabelRanges {
		r.errorf(rng, "Unexpected label", "A %s block has no label. Write %s { … }.", b.Type, b.Type)
	}
	for _, a := range syntax.Attributes(b.Body) {
		r.errorf(a.NameRange, "Unknown argument", "A %s block holds steps only. Write the argument into the %s itself, or into one of the steps.", b.Type, s.typ.Name)
	}
	at := stepPlace{scope: s.inner, owner: s, phase: phase, stage: nil}
	for _, inner := range r.dressBare(phase, b.Body.Blocks) {
		if inner.Type == "stage" {
			if st := r.readStage(inner, &at); st != nil {
				s.parts[phase.Name] = append(s.parts[phase.Name], st)
			}
			continue
		}
		if nested := r.readStep(inner, at); nested != nil {
			s.parts[phase.Name] = append(s.parts[phase.Name], nested)
		}
	}
}

// number gives every step its place in the walk order: as written, those
// nested in a step by its phases.
func (r *Recipe) number() {
	n := 0
	for _, it := range r.items {
		number(it, &n)
	}
}

func number(it item, n *int) {
	switch it := it.(type) {
	case *use:
		it.order = *n
		*n++
	case *stage:
		it.order = *n
		for _, s := range it.steps {
			number(s, n)
		}
	case *step:
		it.order = *n
		*n++
		for _, phase := range it.typ.Phases {
			for _, inner := range it.parts[phase.Name] {
				number(inner, n)
			}
		}
	}
}

// checkForEachName holds a step with for_each to names that differ.
func (r *Recipe) checkForEachName(s *step, b *hclsyntax.Block) {
	if s.forEach == nil {
		return
	}
	if nameAttr(s.typ) != nil && b.Body.Attributes["name"] == nil {
		r.errorf(s.forEach.Range(), "Missing name", "The label names one thing, and for_each makes several. Write name = each.key.")
		return
	}
	owned, ok := s.args.ownedExprs()
	if !ok {
		return
	}
	for _, expr := range owned {
		if usesEach(expr) {
			return
		}
	}
	names := s.args.ownedNames()
	r.errorf(s.forEach.Range(), "Same name for all", "All instances would own the same thing. Use each.key in %s.", strings.Join(names, " or "))
}

func usesEach(expr hclsyntax.Expression) bool {
	return slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "each" })
}
