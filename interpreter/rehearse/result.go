package rehearse

import (
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Result is what the tests of a recipe found.
type Result struct {
	// Name is that of the recipe, as messages call it.
	Name string
	// Cases are the tests in the order written, each followed by its laws.
	Cases    []Case
	Coverage Coverage
	// Sources are the texts that failures are about.
	Sources map[string]*hcl.File
	// Golden are the plans to write with [Options.Update], by name below
	// tests.
	Golden map[string]string
}

// Case is one test, or one law tried with the host and the inputs of a test.
type Case struct {
	File, Name string
	// Law is the name of the law, "" for a test.
	Law   string
	Range hcl.Range
	Took  time.Duration
	// Failures are empty when all is well.
	Failures hcl.Diagnostics
}

// Failed counts the cases that failed.
func (r Result) Failed() (n int) {
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			n++
		}
	}
	return n
}
