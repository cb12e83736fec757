package eval

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
)

// dressBare gives actions that stand among the steps of a phase without a step
// of their own that step: each run of them becomes one, called after the phase.
func (r *Recipe) dressBare(phase *block.Phase, blocks hclsyntax.Blocks) hclsyntax.Blocks {
	typ := r.vocab.Type(phase.Bare)
	if typ == nil {
		return blocks
	}
	var all hclsyntax.Blocks
	var open *hclsyntax.Block
	made := 0
	for _, b := range blocks {
		if !isAction(typ, b.Type) {
			all, open = append(all, b), nil
			continue
		}
		if open == nil {
			made++
			open = bareStep(typ, phase.Name, made, b)
			all = append(all, open)
		}
		open.Body.Blocks = append(open.Body.Blocks, b)
		open.Body.SrcRange = hcl.RangeBetween(open.Body.SrcRange, b.Range())
		open.CloseBraceRange, open.Body.EndRange = b.CloseBraceRange, b.Body.EndRange
	}
	return all
}

func isAction(typ *block.Type, name string) bool {
	return slices.ContainsFunc(typ.Schema.Blocks, func(n block.Nested) bool { return n.Actions && n.Name == name })
}

// bareStep is the step around the n-th run of bare actions, which begins with b.
func bareStep(typ *block.Type, phase string, n int, b *hclsyntax.Block) *hclsyntax.Block {
	label := phase
	if n > 1 {
		label = fmt.Sprintf("%s_%d", phase, n)
	}
	return &hclsyntax.Block{
		Type: typ.Name, Labels: []string{label}, TypeRange: b.TypeRange, LabelRanges: []hcl.Range{b.TypeRange},
		OpenBraceRange: b.OpenBraceRange, CloseBraceRange: b.CloseBraceRange,
		Body: &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: b.Range(), EndRange: b.Body.EndRange},
	}
}
