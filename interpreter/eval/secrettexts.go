package eval

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// leastSecret is the length in bytes from which a text can be told from what
// stands everywhere.
const leastSecret = 6

// SecretTexts are the texts in the values of sensitive variables, longest
// first, for whoever takes them out of what is shown: what others say about
// them, a program's output for example, carries no mark.
func (r *Recipe) SecretTexts(in Inputs) []string {
	var all []string
	for _, v := range r.variables {
		value, ok := in.values[v.Name]
		if !v.Sensitive || !ok {
			continue
		}
		raw, _ := reveal(value)
		_ = cty.Walk(raw, func(_ cty.Path, v cty.Value) (bool, error) {
			if isText(v) && len(v.AsString()) >= leastSecret {
				all = append(all, v.AsString())
			}
			return true, nil
		})
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}
