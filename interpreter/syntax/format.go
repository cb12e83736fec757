package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format brings a recipe into canonical layout: indentation, alignment, blanks
// between words, LF line ends and one newline at the end. Comments, the text
// of strings and the lines of heredocs stay as they are. A text with errors
// is not formatted; the result is then nil.
func Format(name string, src []byte) ([]byte, hcl.Diagnostics) {
	file, diags := Parse(name, src)
	if diags.HasErrors() {
		return nil, diags
	}
	text := bytes.TrimRight(file.Bytes, "\n \t")
	if len(text) == 0 {
		return []byte{}, diags
	}
	text = append(text[:len(text):len(text)], '\n')
	out := settle(text)
	if !sameWords(text, out) {
		return text, diags // a layout that would change the meaning is no layout
	}
	return out, diags
}

// settle formats until nothing changes any more: aligning one column can move
// another.
func settle(text []byte) []byte {
	for range 8 {
		next := hclwrite.Format(text)
		if bytes.Equal(next, text) {
			break
		}
		text = next
	}
	return text
}

// sameWords says that two texts differ in nothing but blanks between tokens.
func sameWords(a, b []byte) bool {
	x, _ := hclsyntax.LexConfig(a, "", hcl.InitialPos)
	y, _ := hclsyntax.LexConfig(b, "", hcl.InitialPos)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Type != y[i].Type || !bytes.Equal(x[i].Bytes, y[i].Bytes) {
			return false
		}
	}
	return true
}
