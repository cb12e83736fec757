package format

import (
	"encoding/xml"
	"fmt"
	"io"

	"hostler/interpreter/lint"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    int      `xml:"line,attr,omitempty"`
	Failure *failure `xml:"failure"`
	Skipped *skipped `xml:"skipped"`
}

type failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type skipped struct {
	Message string `xml:"message,attr"`
}

// writeJUnit writes one suite for each recipe, with a test case for each
// finding, for each comment that answers one, and one that passes when there is
// none.
func writeJUnit(w io.Writer, r Report) error {
	doc := suites{Name: "hostler lint"}
	for _, res := range r.Results {
		s := suite{Name: res.Name}
		for _, f := range res.Findings {
			s.Cases = append(s.Cases, caseOf(f, &failure{f.Severity.String(), f.Summary, where(f) + ": " + f.Detail}, nil))
		}
		for _, f := range res.Suppressed {
			s.Cases = append(s.Cases, caseOf(f.Finding, nil, &skipped{f.Reason}))
			s.Skipped++
		}
		s.Failures = len(res.Findings)
		if s.Failures == 0 {
			s.Cases = append(s.Cases, testcase{Name: "lint", Class: res.Name})
		}
		s.Tests = len(s.Cases)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Suites = append(doc.Suites, s)
	}
	return encodeXML(w, doc)
}

func caseOf(f lint.Finding, bad *failure, skip *skipped) testcase {
	return testcase{
		Name: fmt.Sprintf("%s at line %d, column %d", f.Rule, f.Range.Start.Line, f.Range.Start.Column), Class: f.Range.Filename,
		File: f.Range.Filename, Line: f.Range.Start.Line, Failure: bad, Skipped: skip,
	}
}

func where(f lint.Finding) string {
	return fmt.Sprintf("%s:%d:%d", f.Range.Filename, f.Range.Start.Line, f.Range.Start.Column)
}
