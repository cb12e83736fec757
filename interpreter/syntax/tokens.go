package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Tokens are the tokens of a text in the form of [File.Bytes], for tools that
// look at text while it is written: what throws the scanner off its track, such
// as a string without an end, is read as something harmless of the same length,
// so that everything after it is what it looks like. There are none for a text
// that had better not be parsed at all.
func Tokens(name string, text []byte) hclsyntax.Tokens {
	if checkText(name, text).HasErrors() {
		return nil
	}
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	if checkLimits(tokens).HasErrors() {
		return nil
	}
	m := newMender(&File{Name: name, Bytes: text}, tokens)
	if m.mend().HasErrors() {
		return nil
	}
	return m.tokens
}
