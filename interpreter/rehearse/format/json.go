package format

import (
	"encoding/json"
	"io"
	"maps"
	"slices"

	"hostler/interpreter/rehearse"
	"hostler/interpreter/report"
)

// Document is the JSON document of test.
type Document struct {
	FormatVersion string   `json:"format_version"`
	Passed        bool     `json:"passed"`
	Tests         int      `json:"tests" doc:"how many tests there are"`
	Laws          int      `json:"laws" doc:"how many laws were tried"`
	Failed        int      `json:"failed"`
	Recipes       []Recipe `json:"recipes"`
}

// Recipe is one recipe with its tests.
type Recipe struct {
	Name     string    `json:"name"`
	Cases    []Case    `json:"cases" doc:"tests, each followed by the laws tried with its host"`
	Coverage *Coverage `json:"coverage,omitempty" doc:"with --coverage"`
	Written  []string  `json:"written,omitempty" doc:"golden plans that were written"`
}

// Case is one test or law.
type Case struct {
	File        string              `json:"file"`
	Line        int                 `json:"line"`
	Name        string              `json:"name"`
	Law         string              `json:"law,omitempty" doc:"name of the law, absent for a test"`
	Passed      bool                `json:"passed"`
	DurationMS  int64               `json:"duration_ms"`
	Diagnostics []report.Diagnostic `json:"diagnostics" doc:"why it failed"`
}

// Coverage is how much of a recipe its tests saw.
type Coverage struct {
	Steps     Covered `json:"steps"`
	Branches  Covered `json:"branches" doc:"answers of when, two each"`
	Variables Covered `json:"variables"`
}

// Covered counts one kind of thing.
type Covered struct {
	Seen   int      `json:"seen"`
	Total  int      `json:"total"`
	Missed []Missed `json:"missed"`
}

// Missed is a thing that no test saw.
type Missed struct {
	Name  string        `json:"name"`
	Range *report.Range `json:"range"`
}

func writeJSON(w io.Writer, r Report) error {
	c := r.counts()
	doc := Document{FormatVersion: report.FormatVersion, Passed: c.failed == 0, Tests: c.tests, Laws: c.laws, Failed: c.failed, Recipes: []Recipe{}}
	for _, res := range r.Results {
		one := Recipe{Name: res.Name, Cases: []Case{}, Written: slices.Sorted(maps.Keys(res.Golden))}
		for _, tc := range res.Cases {
			one.Cases = append(one.Cases, Case{
				File: tc.File, Line: tc.Range.Start.Line, Name: tc.Name, Law: tc.Law, Passed: len(tc.Failures) == 0,
				DurationMS: tc.Took.Milliseconds(), Diagnostics: report.Diagnostics(tc.Failures, res.Sources),
			})
		}
		if r.Coverage {
			cov := res.Coverage
			one.Coverage = &Coverage{covered(cov.Steps), covered(cov.Branches), covered(cov.Variables)}
		}
		doc.Recipes = append(doc.Recipes, one)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func covered(c rehearse.Covered) Covered {
	out := Covered{Seen: c.Seen(), Total: c.Total, Missed: []Missed{}}
	for _, m := range c.Missed {
		out.Missed = append(out.Missed, Missed{m.Name, report.RangeOf(m.Range)})
	}
	return out
}
