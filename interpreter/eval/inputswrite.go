package eval

import "github.com/hashicorp/hcl/v2/hclwrite"

// InputsFile writes the values given as an inputs file, in HCL: reading it gives
// the same inputs. Sensitive values stand in it too, in the clear; nil when no
// value was given.
func (r *Recipe) InputsFile(in Inputs) []byte {
	file := hclwrite.NewEmptyFile()
	written := false
	for _, v := range r.variables {
		val, ok := in.values[v.Name]
		if !ok {
			continue
		}
		plain, _ := val.UnmarkDeep()
		if !plain.IsWhollyKnown() {
			continue
		}
		file.Body().SetAttributeRaw(v.Name, hclwrite.TokensForValue(plain))
		written = true
	}
	if !written {
		return nil
	}
	return hclwrite.Format(file.Bytes())
}
