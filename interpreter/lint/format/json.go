package format

import (
	"encoding/json"
	"io"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/lint"
)

// formatVersion is that of all JSON documents.
const formatVersion = "1"

// Document is what --output json writes.
type Document struct {
	FormatVersion string       `json:"format_version"`
	Valid         bool         `json:"valid" doc:"whether there is no error"`
	ErrorCount    int          `json:"error_count"`
	WarningCount  int          `json:"warning_count"`
	Diagnostics   []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Severity string   `json:"severity" doc:"error or warning" enum:"error,warning"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail,omitempty"`
	Address  string   `json:"address,omitempty"`
	Range    place    `json:"range"`
	Snippet  *snippet `json:"snippet,omitempty"`
	Rule     string   `json:"rule" doc:"the lint rule"`
	Fix      string   `json:"fix,omitempty" doc:"what --fix would do"`
}

type place struct {
	Filename string   `json:"filename"`
	Start    position `json:"start"`
	End      position `json:"end"`
}

type position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

func newPlace(r hcl.Range) place {
	return place{r.Filename, position{r.Start.Line, r.Start.Column, r.Start.Byte}, position{r.End.Line, r.End.Column, r.End.Byte}}
}

func writeJSON(w io.Writer, r Report) error {
	doc := Document{FormatVersion: formatVersion, ErrorCount: r.count(lint.Error), WarningCount: r.count(lint.Warning), Diagnostics: []diagnostic{}}
	doc.Valid = doc.ErrorCount == 0
	r.each(func(res lint.Result, f lint.Finding) {
		d := diagnostic{
			Severity: f.Severity.String(), Summary: f.Summary, Detail: f.Detail, Address: f.Address,
			Range: newPlace(f.Range), Snippet: snippetOf(res, f), Rule: f.Rule,
		}
		if f.Fix != nil {
			d.Fix = f.Fix.Message
		}
		doc.Diagnostics = append(doc.Diagnostics, d)
	})
	return encode(w, doc)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
