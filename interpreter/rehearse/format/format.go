// Package format shows what recipe tests found: as text for people, as JSON,
// and as JUnit for what reads test results.
package format

import (
	"fmt"
	"io"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/rehearse"
	"hostler/interpreter/report"
)

// Report is what is shown.
type Report struct {
	Results []rehearse.Result
	// Coverage shows how much of the recipes the tests saw.
	Coverage bool
	// Verbose names the tests that passed, Quiet leaves out all but failures.
	Verbose, Quiet bool
	Pen            report.Pen
	// Width is that of the text, in columns.
	Width int
}

// Names are the forms, the default first.
func Names() []string { return []string{"text", "json", "junit"} }

// Write writes the report in a form.
func Write(w io.Writer, name string, r Report) error {
	switch name {
	case "text":
		return writeText(w, r)
	case "json":
		return writeJSON(w, r)
	case "junit":
		return writeJUnit(w, r)
	}
	return fmt.Errorf("there is no output %q", name)
}

// counts are the tests and laws of all results, and how many failed.
type counts struct{ tests, laws, failed int }

func (r Report) counts() (c counts) {
	for _, res := range r.Results {
		for _, one := range res.Cases {
			if one.Law != "" {
				c.laws++
			} else {
				c.tests++
			}
		}
		c.failed += res.Failed()
	}
	return c
}

// title is how a case is called.
func title(c rehearse.Case) string {
	if c.Law != "" {
		return c.Law + " (" + c.Name + ")"
	}
	return c.Name
}

// told is a diagnostic in one text.
func told(d *hcl.Diagnostic) string {
	text := d.Summary + ": " + d.Detail
	if d.Subject != nil {
		text = fmt.Sprintf("%s:%d:%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column, text)
	}
	return text
}
