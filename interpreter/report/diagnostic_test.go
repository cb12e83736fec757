package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/report"
)

func span(line, column, endLine, endColumn int) *hcl.Range {
	return &hcl.Range{Filename: "a.hcl", Start: hcl.Pos{Line: line, Column: column, Byte: 7}, End: hcl.Pos{Line: endLine, Column: endColumn, Byte: 9}}
}

func TestValidation(t *testing.T) {
	files := map[string]*hcl.File{"a.hcl": {Bytes: []byte("first\r\nä = x  # é\nlast")}}
	got := report.NewValidation(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "Bad", Detail: "Do this.", Subject: span(2, 5, 2, 6)},
		{Severity: hcl.DiagWarning, Summary: "Odd", Subject: span(1, 2, 3, 1)},
		{Severity: hcl.DiagError, Summary: "Nowhere"},
		{Severity: hcl.DiagError, Summary: "Past", Subject: span(9, 1, 9, 1)},
		{Severity: hcl.DiagError, Summary: "At the end", Subject: span(3, 99, 3, 1)},
	}, files)
	if got.Valid || got.ErrorCount != 4 || got.WarningCount != 1 || got.FormatVersion != "1" {
		t.Errorf("%+v", got)
	}
	want := []report.Diagnostic{
		{Severity: "error", Summary: "Bad", Detail: "Do this.", Range: report.RangeOf(*span(2, 5, 2, 6)),
			Snippet: &report.Snippet{Code: "ä = x  # é", StartLine: 2, HighlightStart: 5, HighlightEnd: 6}},
		{Severity: "warning", Summary: "Odd", Range: report.RangeOf(*span(1, 2, 3, 1)),
			Snippet: &report.Snippet{Code: "first", StartLine: 1, HighlightStart: 1, HighlightEnd: 5}},
		{Severity: "error", Summary: "Nowhere"},
		{Severity: "error", Summary: "Past", Range: report.RangeOf(*span(9, 1, 9, 1))},
		{Severity: "error", Summary: "At the end", Range: report.RangeOf(*span(3, 99, 3, 1)),
			Snippet: &report.Snippet{Code: "last", StartLine: 3, HighlightStart: 4, HighlightEnd: 4}},
	}
	if diff := cmp.Diff(want, got.Diagnostics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := got.Diagnostics[0].Range; r.Filename != "a.hcl" || r.Start != (report.Pos{Line: 2, Column: 5, Byte: 7}) || r.End.Byte != 9 {
		t.Errorf("range %+v", r)
	}
}

func TestValidationOfWarningsAlone(t *testing.T) {
	got := report.NewValidation(hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Odd", Subject: span(1, 1, 1, 1)}}, nil)
	if !got.Valid || got.Diagnostics[0].Snippet != nil {
		t.Errorf("%+v", got)
	}
}
