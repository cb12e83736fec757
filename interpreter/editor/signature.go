package editor

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"
)

// signature says what the call around a place takes, nil outside of calls.
func (s *Service) signature(d *document, at int) *SignatureHelp {
	c := d.cursor(at)
	if c.attr == nil || d.kind() != kindRecipe {
		return nil
	}
	name, argument, ok := callAround(c.written)
	f, known := d.grammar.functions[name]
	if !ok || !known {
		return nil
	}
	sig := signatureOf(name, f)
	if n := len(sig.Parameters); f.VarParam() != nil && argument >= n {
		argument = n - 1
	}
	return &SignatureHelp{Signatures: []Signature{sig}, ActiveParameter: argument}
}

// callAround is the innermost call that is open at the end of a text, and which
// of its arguments is being written.
func callAround(written string) (name string, argument int, ok bool) {
	type call struct {
		name  string
		comma int
	}
	var open []call
	tokens, _ := hclsyntax.LexConfig([]byte(written), "", hcl.InitialPos)
	for i, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenOParen:
			c := call{}
			if i > 0 && tokens[i-1].Type == hclsyntax.TokenIdent {
				c.name = string(tokens[i-1].Bytes)
			}
			open = append(open, c)
		case hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open = append(open, call{})
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd:
			open = open[:max(0, len(open)-1)]
		case hclsyntax.TokenComma:
			if len(open) > 0 {
				open[len(open)-1].comma++
			}
		}
	}
	for _, c := range slices.Backward(open) {
		if c.name != "" {
			return c.name, c.comma, true
		}
	}
	return "", 0, false
}

// signatureOf is the form of calls of a function.
func signatureOf(name string, f function.Function) Signature {
	sig := Signature{Documentation: markdown(f.Description()), Parameters: []Parameter{}}
	label := name + "("
	for i, p := range parametersOf(f) {
		if i > 0 {
			label += ", "
		}
		from := units(label)
		label += p.Name
		if f.VarParam() != nil && i == len(f.Params()) {
			label += "..."
		}
		sig.Parameters = append(sig.Parameters, Parameter{[2]int{from, units(label)}, p.Description})
	}
	sig.Label = label + ")"
	return sig
}

func parametersOf(f function.Function) []function.Parameter {
	all := slices.Clone(f.Params())
	if p := f.VarParam(); p != nil {
		all = append(all, *p)
	}
	for i := range all {
		all[i].Name = strings.TrimSpace(all[i].Name)
	}
	return all
}
