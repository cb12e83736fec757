package report

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/walk"
)

// Diagnostic is one fault or warning.
type Diagnostic struct {
	Severity string   `json:"severity" doc:"error or warning" enum:"error,warning"`
	Summary  string   `json:"summary" doc:"two to four words"`
	Detail   string   `json:"detail,omitempty" doc:"sentences that say what to do"`
	Address  string   `json:"address,omitempty" doc:"the step it is about"`
	Range    *Range   `json:"range,omitempty" doc:"where it is in the recipe or the inputs"`
	Snippet  *Snippet `json:"snippet,omitempty" doc:"the line where the range starts"`
	Rule     string   `json:"rule,omitempty" doc:"the lint rule"`
}

// Range is a place in a file; lines and columns count from 1.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// Pos is a position; columns count characters, bytes count from 0.
type Pos struct {
	Line   int `json:"line" doc:"from 1"`
	Column int `json:"column" doc:"in characters, from 1"`
	Byte   int `json:"byte" doc:"from 0"`
}

// Snippet is the source line of a range's start.
type Snippet struct {
	Code string `json:"code"`
	// StartLine is the line's number; HighlightStart and HighlightEnd are
	// byte offsets in Code.
	StartLine      int `json:"start_line"`
	HighlightStart int `json:"highlight_start" doc:"byte of code where the range starts"`
	HighlightEnd   int `json:"highlight_end" doc:"byte of code where the range ends"`
}

// Validation is the document of validate.
type Validation struct {
	FormatVersion string       `json:"format_version"`
	Valid         bool         `json:"valid"`
	ErrorCount    int          `json:"error_count"`
	WarningCount  int          `json:"warning_count"`
	Diagnostics   []Diagnostic `json:"diagnostics"`
}

// NewValidation makes the document of diagnostics.
func NewValidation(diags hcl.Diagnostics, files map[string]*hcl.File) Validation {
	v := Validation{FormatVersion: FormatVersion, Diagnostics: Diagnostics(diags, files)}
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			v.ErrorCount++
		} else {
			v.WarningCount++
		}
	}
	v.Valid = v.ErrorCount == 0
	return v
}

// Diagnostics is diags with snippets of their sources.
func Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) []Diagnostic {
	all := make([]Diagnostic, 0, len(diags))
	for _, d := range diags {
		one := Diagnostic{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity == hcl.DiagWarning {
			one.Severity = "warning"
		}
		if d.Subject != nil {
			one.Range = RangeOf(*d.Subject)
			one.Snippet = snippet(*d.Subject, files[d.Subject.Filename])
		}
		all = append(all, one)
	}
	return all
}

// RangeOf is r as documents show it.
func RangeOf(r hcl.Range) *Range {
	pos := func(p hcl.Pos) Pos { return Pos{p.Line, p.Column, p.Byte} }
	return &Range{Filename: r.Filename, Start: pos(r.Start), End: pos(r.End)}
}

// snippetLine is the longest line, in bytes, that is quoted.
const snippetLine = 4096

func snippet(r hcl.Range, file *hcl.File) *Snippet {
	if file == nil || r.Start.Line < 1 {
		return nil
	}
	lines := strings.Split(string(file.Bytes), "\n")
	if r.Start.Line > len(lines) {
		return nil
	}
	code := strings.TrimSuffix(lines[r.Start.Line-1], "\r")
	if len(code) > snippetLine {
		return nil
	}
	start := byteColumn(code, r.Start.Column)
	end := len(code)
	if r.End.Line == r.Start.Line {
		end = byteColumn(code, r.End.Column)
	}
	return &Snippet{Code: code, StartLine: r.Start.Line, HighlightStart: start, HighlightEnd: max(start, end)}
}

// byteColumn is the offset of a column, which counts characters from 1.
func byteColumn(line string, column int) int {
	for i := range line {
		if column--; column <= 0 {
			return i
		}
	}
	return len(line)
}

func warningOf(e walk.Event) Diagnostic {
	return Diagnostic{Severity: "warning", Summary: e.Warning.Summary, Detail: e.Warning.Detail, Address: e.Address}
}
