package syntax

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// maxFaults is how many faults of one file are reported.
const maxFaults = 50

// place gives diagnostics their positions in the text as it was written, in
// order, each place once.
func (m *mender) place(diags hcl.Diagnostics) hcl.Diagnostics {
	order(diags)
	diags = limit(unique(diags))
	l := newLocator(m.file.Name, m.file.Bytes)
	for i, diag := range diags {
		d := *diag
		d.Subject = l.again(diag.Subject)
		d.Context = l.again(diag.Context)
		l.improve(&d)
		diags[i] = &d
	}
	order(diags)
	return diags
}

func order(diags hcl.Diagnostics) {
	sort.SliceStable(diags, func(i, j int) bool {
		return diags[i].Subject.Start.Byte < diags[j].Subject.Start.Byte
	})
}

func (l *locator) again(rng *hcl.Range) *hcl.Range {
	if rng == nil {
		return nil
	}
	return l.span(rng.Start.Byte, rng.End.Byte).Ptr()
}

func unique(diags hcl.Diagnostics) hcl.Diagnostics {
	var kept hcl.Diagnostics
	for _, diag := range diags {
		if n := len(kept); n == 0 || kept[n-1].Subject.Start.Byte != diag.Subject.Start.Byte {
			kept = append(kept, diag)
		}
	}
	return kept
}

func limit(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) <= maxFaults {
		return diags
	}
	next := diags[maxFaults]
	return append(diags[:maxFaults:maxFaults], fault(*next.Subject, "More faults",
		fmt.Sprintf("%d more faults from here on are not shown.", len(diags)-maxFaults)))
}

// improve says in the words of a recipe's author what HCL says in its own.
func (l *locator) improve(d *hcl.Diagnostic) {
	atNewline := l.offNewline(d)
	text := string(l.text[d.Subject.Start.Byte:d.Subject.End.Byte])
	switch d.Summary {
	case "Invalid escape sequence":
		d.Detail = fmt.Sprintf("A quoted string knows the escapes \\n \\r \\t \\\" \\\\ \\uNNNN and \\UNNNNNNNN. "+
			"To write %s itself, as in an escaped unit name, double the backslash: \\%s.", text, text)
	case "Invalid expression", "Missing expression":
		if atNewline {
			d.Summary, d.Detail = "Missing value", "A value is expected after this."
		} else {
			d.Detail = fmt.Sprintf("A value is expected here, not %s.", text)
		}
	case "Invalid number literal":
		d.Summary, d.Detail = "Invalid number", fmt.Sprintf("This is no number. If it is text, such as a version, write \"%s\".", text)
	case "Attribute redefined":
		d.Summary = "Argument set twice"
	}
}

// offNewline moves the subject of a fault that is about the end of a line to
// the last word before it; a newline cannot be seen.
func (l *locator) offNewline(d *hcl.Diagnostic) bool {
	at := min(d.Subject.Start.Byte, len(l.text)-1)
	if at < 0 || l.text[at] != '\n' && d.Subject.Start.Byte < len(l.text) {
		return false
	}
	end := len(bytes.TrimRight(l.text[:at], " \t\n"))
	start := strings.LastIndexAny(string(l.text[:end]), " \t\n") + 1
	d.Subject = l.span(start, end).Ptr()
	return true
}
