package history

import (
	"fmt"
	"io"
	"time"
)

// Document is the document of hostler history.
type Document struct {
	FormatVersion string   `json:"format_version"`
	Runs          []Run    `json:"runs" doc:"newest first, without their steps"`
	Damaged       []string `json:"damaged,omitempty" doc:"what could not be read"`
}

// NewDocument is runs as they are listed.
func NewDocument(runs []*Run, damaged []error) Document {
	d := Document{FormatVersion: FormatVersion, Runs: []Run{}}
	for _, r := range runs {
		short := *r
		short.Steps, short.Warnings = nil, nil
		d.Runs = append(d.Runs, short)
	}
	for _, err := range damaged {
		d.Damaged = append(d.Damaged, err.Error())
	}
	return d
}

// text writes for people; it drops write errors: there is nobody left to
// tell.
type text struct{ w io.Writer }

func (t text) printf(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format, args...) }

// WriteList writes one line a run.
func WriteList(w io.Writer, d Document) {
	t := text{w}
	if len(d.Runs) == 0 {
		t.printf("No run is kept on this host.\n")
		return
	}
	t.printf("%5s  %-20s  %-8s  %-8s  %9s  %s\n", "RUN", "BEGAN", "COMMAND", "RESULT", "TOOK", "DID")
	for i := range d.Runs {
		r := &d.Runs[i]
		did := fmt.Sprintf("%d changed, %d unchanged", r.Changed, r.Unchanged)
		if r.Step != "" {
			did = "failed at " + r.Step + ": " + r.Reason
		} else if r.Reason != "" {
			did = r.Reason
		}
		t.printf("%5d  %-20s  %-8s  %-8s  %9s  %s\n", r.Number, r.Began.UTC().Format(time.RFC3339), r.Command, r.Result, short(r.Duration()), did)
	}
}

// WriteRun writes what one run did. Steps that needed nothing are left out
// unless all is true.
func WriteRun(w io.Writer, r *Run, all bool) {
	t := text{w}
	t.printf("%s\n%s\n", headline(r), ending(r))
	if r.Cause != "" {
		t.printf("cause:  %s\n", r.Cause)
	}
	if r.Advice != "" {
		t.printf("advice: %s\n", r.Advice)
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; all || s.Did() || s.Error != "" {
			t.step(s)
		}
	}
	for _, warning := range r.Warnings {
		t.printf("warning: %s: %s\n", warning.Summary, warning.Detail)
	}
}

func (t text) step(s *Step) {
	line := s.Reason
	if s.Error != "" {
		line = "failed: " + s.Error
	}
	t.printf("  %9s  %-8s %s: %s (%s)\n", fmt.Sprintf("+%.2f s", usec(s.StartUsec).Seconds()), s.Action, s.Address, line, short(s.Duration()))
	for _, thing := range s.Drift {
		t.printf("             was changed behind our back: %s\n", thing)
	}
	for _, cause := range s.After {
		t.printf("             because of %s\n", cause)
	}
	for _, work := range s.Work {
		t.printf("             %s %s: %s\n", work.What, work.Name, short(usec(work.DurationUsec)))
	}
}
