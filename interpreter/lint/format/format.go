// Package format shows what the linter found: as text for people, as JSON, and
// in the forms that review tools read (SARIF 2.1.0, JUnit, annotations of GitHub
// Actions, checkstyle).
package format

import (
	"fmt"
	"io"

	"hostler/interpreter/lint"
)

// Report is what is shown.
type Report struct {
	Results []lint.Result
	Rules   []*lint.Rule
	// Version is the program's.
	Version string
	// Color shows text with colours.
	Color bool
	// Fixed are the findings that were just removed, for text.
	Fixed   []lint.Finding
	Refused []lint.Refusal
}

// Names are the forms, the default first.
func Names() []string { return []string{"text", "json", "sarif", "junit", "github", "checkstyle"} }

// Write writes the report in a form.
func Write(w io.Writer, name string, r Report) error {
	switch name {
	case "text":
		return writeText(w, r)
	case "json":
		return writeJSON(w, r)
	case "sarif":
		return writeSARIF(w, r)
	case "junit":
		return writeJUnit(w, r)
	case "github":
		return writeGitHub(w, r)
	case "checkstyle":
		return writeCheckstyle(w, r)
	}
	return fmt.Errorf("there is no output %q", name)
}

// count is how many findings are of a severity.
func (r Report) count(s lint.Severity) int {
	n := 0
	for _, res := range r.Results {
		for _, f := range res.Findings {
			if f.Severity == s {
				n++
			}
		}
	}
	return n
}

// each visits the findings with the result that they belong to.
func (r Report) each(visit func(res lint.Result, f lint.Finding)) {
	for _, res := range r.Results {
		for _, f := range res.Findings {
			visit(res, f)
		}
	}
}
