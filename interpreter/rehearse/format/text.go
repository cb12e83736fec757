package format

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/rehearse"
)

// writeText writes a line for each file of tests, what failed below it, and a
// summary.
func writeText(w io.Writer, r Report) error {
	for _, res := range r.Results {
		if err := r.result(w, res); err != nil {
			return err
		}
	}
	c := r.counts()
	if r.Quiet && c.failed == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s, %s: %s.\n", number(c.tests, "test"), number(c.laws, "law"), passed(c))
	return err
}

func passed(c counts) string {
	if c.failed == 0 {
		return "all passed"
	}
	return fmt.Sprintf("%d failed", c.failed)
}

func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (r Report) result(w io.Writer, res rehearse.Result) error {
	lines := hcl.NewDiagnosticTextWriter(w, res.Sources, uint(r.Width), r.Pen.Color)
	for _, group := range files(res.Cases) {
		took, failed := time.Duration(0), 0
		for _, c := range group {
			took += c.Took
			if len(c.Failures) > 0 {
				failed++
			}
		}
		word := "ok  "
		if failed > 0 {
			word = "FAIL"
		}
		if !r.Quiet || failed > 0 {
			fmt.Fprintf(w, "%s %s (%s, %s)\n", word, group[0].File, number(len(group), "case"), took.Round(time.Millisecond))
		}
		for _, c := range group {
			if len(c.Failures) > 0 || r.Verbose {
				fmt.Fprintf(w, "  %s %s\n", mark(c), title(c))
			}
			if err := lines.WriteDiagnostics(c.Failures); err != nil {
				return err
			}
		}
	}
	for name := range res.Golden {
		fmt.Fprintf(w, "written: %s\n", name)
	}
	if r.Coverage {
		r.coverage(w, res)
	}
	return nil
}

func mark(c rehearse.Case) string {
	if len(c.Failures) > 0 {
		return "✗"
	}
	return "✓"
}

// files are the cases by file, in order.
func files(cases []rehearse.Case) (groups [][]rehearse.Case) {
	for _, c := range cases {
		if n := len(groups); n > 0 && groups[n-1][0].File == c.File {
			groups[n-1] = append(groups[n-1], c)
			continue
		}
		groups = append(groups, []rehearse.Case{c})
	}
	return groups
}

func (r Report) coverage(w io.Writer, res rehearse.Result) {
	cov := res.Coverage
	fmt.Fprintf(w, "Coverage of %s: %s, %s, %s\n", res.Name, share(cov.Steps, "steps"), share(cov.Branches, "answers of when"), share(cov.Variables, "variables"))
	for _, c := range []rehearse.Covered{cov.Steps, cov.Branches, cov.Variables} {
		for _, m := range c.Missed {
			fmt.Fprintf(w, "  not seen: %s (%s:%d)\n", m.Name, m.Range.Filename, m.Range.Start.Line)
		}
	}
}

func share(c rehearse.Covered, what string) string {
	return strings.TrimSpace(fmt.Sprintf("%d of %d %s", c.Seen(), c.Total, what))
}
