package format

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"hostler/interpreter/rehearse"
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
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr"`
	Line    int      `xml:"line,attr"`
	Time    string   `xml:"time,attr"`
	Failure *failure `xml:"failure"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a suite for each recipe, with times in seconds.
func writeJUnit(w io.Writer, r Report) error {
	doc := suites{Name: "hostler test"}
	for _, res := range r.Results {
		s := suite{Name: res.Name, Tests: len(res.Cases), Failures: res.Failed()}
		total := 0.0
		for _, c := range res.Cases {
			total += c.Took.Seconds()
			s.Cases = append(s.Cases, testcase{
				Name: title(c), Class: c.File, File: c.File, Line: c.Range.Start.Line, Time: fmt.Sprintf("%.3f", c.Took.Seconds()), Failure: failed(c),
			})
		}
		s.Time = fmt.Sprintf("%.3f", total)
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func failed(c rehearse.Case) *failure {
	if len(c.Failures) == 0 {
		return nil
	}
	var lines []string
	for _, d := range c.Failures {
		lines = append(lines, told(d))
	}
	return &failure{Message: c.Failures[0].Summary, Text: strings.Join(lines, "\n")}
}
