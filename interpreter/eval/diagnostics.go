package eval

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/syntax"
)

// faults collects diagnostics; the same fault at the same place is kept once.
type faults struct {
	list hcl.Diagnostics
	seen map[string]bool
}

func (f *faults) add(diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		if d == nil {
			continue
		}
		key := d.Summary + "\x00" + d.Detail
		if d.Subject != nil {
			key += "\x00" + d.Subject.String()
		}
		if f.seen[key] {
			continue
		}
		if f.seen == nil {
			f.seen = map[string]bool{}
		}
		f.seen[key] = true
		f.list = append(f.list, d)
	}
}

// errorf adds an error about a range.
func (f *faults) errorf(rng hcl.Range, summary, format string, args ...any) {
	f.add(fault(rng, summary, format, args...))
}

// warnf adds a warning about a range.
func (f *faults) warnf(rng hcl.Range, summary, format string, args ...any) {
	d := fault(rng, summary, format, args...)
	d.Severity = hcl.DiagWarning
	f.add(d)
}

func (f *faults) failed() bool { return f.list.HasErrors() }

// sorted returns the diagnostics in the order of the text they are about;
// those without a range come first.
func (f *faults) sorted() hcl.Diagnostics {
	list := append(hcl.Diagnostics(nil), f.list...)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i].Subject, list[j].Subject
		switch {
		case a == nil || b == nil:
			return a == nil && b != nil
		case a.Filename != b.Filename:
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
	return list
}

func fault(rng hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &rng,
	}
}

// didYouMean is a sentence with the nearest of the candidates, or "".
func didYouMean(given string, candidates []string) string {
	if near := syntax.Suggest(given, candidates); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// oneOf lists names for a message: "a", "b" or "c".
func oneOf(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// stop is the text of an error as the end of a sentence.
func stop(err error) string {
	text := err.Error()
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// where names a place in a text for a message: "recipe.hcl:3".
func where(rng hcl.Range) string { return fmt.Sprintf("%s:%d", rng.Filename, rng.Start.Line) }

// isUnsupported marks the diagnostic of a host that a recipe does not support.
type isUnsupported struct{}

// Unsupported says whether the diagnostics hold the one that says that the
// recipe does not support the host, which has an exit code of its own.
func Unsupported(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if _, ok := d.Extra.(isUnsupported); ok {
			return true
		}
	}
	return false
}
