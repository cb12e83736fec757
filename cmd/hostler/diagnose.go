package main

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// diagnose shows diagnostics with the lines they are about.
func (a *app) diagnose(diags hcl.Diagnostics) {
	w := hcl.NewDiagnosticTextWriter(a.err.W, quotable(a.sources()), uint(a.width), a.pen(a.err).Color)
	if err := w.WriteDiagnostics(brief(diags)); err != nil {
		fmt.Fprintf(a.err.W, "hostler: write diagnostics: %v\n", err)
	}
}

// quotedLine is the longest line, in bytes, that is shown with a diagnostic
// about it.
const quotedLine = 4096

// quotable leaves out the files with lines that nobody could read.
func quotable(files map[string]*hcl.File) map[string]*hcl.File {
	maps.DeleteFunc(files, func(_ string, f *hcl.File) bool {
		for line := range bytes.Lines(f.Bytes) {
			if len(line) > quotedLine {
				return true
			}
		}
		return false
	})
	return files
}

// shownValue is the longest text, in bytes, that is shown as the value of a name
// in the expression that a diagnostic is about.
const shownValue = 1024

// brief leaves out the values of expressions in which one is a text that fills
// the screen.
func brief(diags hcl.Diagnostics) hcl.Diagnostics {
	out := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		out[i] = d
		if d.Expression != nil && d.EvalContext != nil && longValue(d.Expression, d.EvalContext) {
			short := *d
			short.Expression, short.EvalContext = nil, nil
			out[i] = &short
		}
	}
	return out
}

func longValue(expr hcl.Expression, ctx *hcl.EvalContext) bool {
	for _, t := range expr.Variables() {
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() {
			continue
		}
		if v, _ = v.Unmark(); v.Type() == cty.String && v.IsKnown() && !v.IsNull() && len(v.AsString()) > shownValue {
			return true
		}
	}
	return false
}
