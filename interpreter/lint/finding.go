package lint

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Finding is what a rule found.
type Finding struct {
	// Rule is the rule's name.
	Rule     string
	Severity Severity
	// Summary is two to five words, Detail sentences that say what to do.
	Summary, Detail string
	// Address is the step's, "" when it is about none.
	Address string
	// Range is in the recipe or in one of its assets.
	Range hcl.Range
	// Secret says that what stands in the range is a secret: the line is not
	// shown.
	Secret bool
	// Fix is nil when there is none.
	Fix *Fix
	// claims are the summaries of faults of validation that this finding says
	// better.
	claims []string
	// step is the header of the step it is about.
	step hcl.Range
}

// Fix is a change of the recipe's text that removes a finding.
type Fix struct {
	// Message says what it does, for example `write "0644"`.
	Message string
	Edits   []Edit
	// Changes says that what is written at the edits means something else
	// afterwards. Without it every argument must evaluate to the same.
	Changes bool
}

// Edit replaces a range of the recipe by a text.
type Edit struct {
	Range hcl.Range
	Text  string
}

// Suppressed is a finding that a comment in the text answers.
type Suppressed struct {
	Finding
	Reason string
}

// Result is what was found in one recipe.
type Result struct {
	// Name is the recipe's file.
	Name string
	// Findings are in the order of the text, file by file.
	Findings   []Finding
	Suppressed []Suppressed
	// Texts are the files that findings are about.
	Texts map[string][]byte
}

// Count is how many findings are at least of that severity.
func (r Result) Count(least Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity >= least {
			n++
		}
	}
	return n
}

// order sorts findings by place and leaves each out that is there already.
func order(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Range.Filename, b.Range.Filename), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte),
			cmp.Compare(a.Range.End.Byte, b.Range.End.Byte), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool {
		return a.Rule == b.Rule && a.Range == b.Range && a.Detail == b.Detail
	})
}

// within says whether a range lies in another, which may not be empty.
func within(inner, outer hcl.Range) bool {
	return inner.Filename == outer.Filename && inner.Start.Byte >= outer.Start.Byte && inner.End.Byte <= outer.End.Byte
}

func overlap(a, b hcl.Range) bool {
	return a.Filename == b.Filename && a.Start.Byte < b.End.Byte && b.Start.Byte < a.End.Byte || a == b
}
