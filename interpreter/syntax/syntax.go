// Package syntax turns the bytes of a recipe into a [File]: a tree of
// attributes and blocks in the order written, with the range of every part.
// It knows the HCL native syntax and nothing else: no block type, no function,
// no host.
//
// Three promises hold for any bytes at all:
//
//   - Nothing panics and nothing overflows the stack: size, nesting and the
//     length of expressions are bounded on the token stream, before the
//     recursive parser sees it.
//   - The value of a text never depends on how it was checked out: CR LF is
//     read as LF, a UTF-8 byte-order mark is not there, a missing last newline
//     is added. [File.Bytes] is the text after that; byte offsets of ranges
//     count in it, lines and columns are those of the file on disk as well.
//     A carriage return anywhere else is an error.
//   - One run reports many faults, each once, where it was made: what opens
//     and never closes is reported at the opener, and what follows only from
//     an earlier fault is not reported.
//
// A fourth one is for who evaluates what was parsed: arithmetic makes numbers
// that can be written out, or an error. Nothing is divided by zero.
package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// File is a parsed text.
type File struct {
	Name string
	// Bytes is the text that ranges count in: LF line ends, no byte-order
	// mark, a newline at the end. It is nil for what is no UTF-8 text.
	Bytes []byte
	// Body is what could be parsed; incomplete when there were errors, never
	// nil.
	Body *hclsyntax.Body
}

// Parse parses a recipe file. The File is never nil; with errors its body
// holds what could be understood, for tools that look at broken text.
func Parse(name string, src []byte) (*File, hcl.Diagnostics) {
	file := &File{Name: name, Body: emptyBody(name)}
	text, diags := decode(name, src)
	if diags.HasErrors() {
		return file, diags
	}
	file.Bytes = text
	if diags := refuseJSON(name, text); diags.HasErrors() {
		return file, diags
	}
	return file, parseInto(file)
}

// parseInto fills the body of a file from its bytes.
func parseInto(file *File) hcl.Diagnostics {
	tokens, _ := hclsyntax.LexConfig(file.Bytes, file.Name, hcl.InitialPos)
	if diags := checkLimits(tokens); diags.HasErrors() {
		return diags
	}
	m := newMender(file, tokens)
	if diags := m.mend(); diags.HasErrors() {
		return m.place(diags)
	}
	parsed, diags := hclsyntax.ParseConfig(m.text, file.Name, hcl.InitialPos)
	file.Body = parsed.Body.(*hclsyntax.Body)
	holdNumbers(file.Body)
	if len(m.faults) == 0 && !diags.HasErrors() {
		return nil
	}
	return m.place(m.review(diags))
}

// ParseExpression parses one expression, for example a value given on the
// command line, within the same bounds as a file.
func ParseExpression(name string, src []byte) (hclsyntax.Expression, hcl.Diagnostics) {
	text, diags := decode(name, src)
	if diags.HasErrors() {
		return nil, diags
	}
	tokens, _ := hclsyntax.LexExpression(text, name, hcl.InitialPos)
	if diags := checkLimits(tokens); diags.HasErrors() {
		return nil, diags
	}
	return heldNumbers(hclsyntax.ParseExpression(text, name, hcl.InitialPos))
}

// ParseTemplate parses a text with ${…} and %{…} sequences, within the same
// bounds as a file. The text is taken byte for byte, line ends are kept; only a
// byte-order mark is dropped.
func ParseTemplate(name string, src []byte) (hclsyntax.Expression, hcl.Diagnostics) {
	src, diags := Text(name, src)
	if diags.HasErrors() {
		return nil, diags
	}
	tokens, _ := hclsyntax.LexTemplate(src, name, hcl.InitialPos)
	if diags := checkLimits(tokens); diags.HasErrors() {
		return nil, diags
	}
	return heldNumbers(hclsyntax.ParseTemplate(src, name, hcl.InitialPos))
}

func emptyBody(name string) *hclsyntax.Body {
	rng := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	return &hclsyntax.Body{
		Attributes: hclsyntax.Attributes{},
		Blocks:     hclsyntax.Blocks{},
		SrcRange:   rng,
		EndRange:   rng,
	}
}

func fault(rng hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}
}
