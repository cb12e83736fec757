package eval

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// readStage reads a stage, at the top level or nested in a step's phase.
func (r *Recipe) readStage(b *hclsyntax.Block, at *stepPlace) *stage {
	label, ok := r.oneLabel(b, "stage", "its name")
	if !ok {
		return nil
	}
	st := &stage{label: label, rng: b.DefRange(), when: attributeExpr(b.Body, "when"), order: anyOrder}
	if other := r.stages[label]; other != nil {
		r.errorf(b.LabelRanges[0], "Duplicate stage", "There is a stage %q at %s already. Give one another label: logs and status show it.", label, where(other.rng))
	} else {
		r.stages[label] = st
	}
	attrs := r.constants(withoutAttribute(b.Body, "when"), "description", "when")
	if a := attrs["description"]; a != nil {
		st.description, _ = r.constantString(a)
	}
	place := stepPlace{scope: r.scope, stage: st}
	if at != nil {
		place = *at
		place.stage, st.owner = st, at.owner
	}
	for _, inner := range b.Body.Blocks {
		switch {
		case inner.Type == "stage":
			r.errorf(inner.TypeRange, "Nested stage", "Stages do not nest. Close the stage %q before this one.", label)
		default:
			if s := r.readStep(inner, place); s != nil {
				st.steps = append(st.steps, s)
			}
		}
	}
	return st
}
