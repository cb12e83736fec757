package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/walk"
)

// Pen writes to one stream, in colours if it is a terminal that shows them.
type Pen struct {
	W     io.Writer
	Color bool
}

// Text writes for people: one line a step. Results go to Out, warnings to
// Notes.
type Text struct {
	Out, Notes Pen
	// Quiet leaves out everything but faults and the summary; Verbose shows
	// steps that need nothing.
	Quiet, Verbose bool
	// stage is the stage whose name stands above the last line.
	stage string
}

// signs are what stands before an action, and its colour.
var signs = map[block.Action]struct{ sign, color string }{
	block.ActionCreate:  {"+", green},
	block.ActionUpdate:  {"~", yellow},
	block.ActionReplace: {"±", yellow},
	block.ActionDelete:  {"-", red},
	block.ActionRestart: {"↻", cyan},
	block.ActionRun:     {"!", cyan},
	block.ActionUnknown: {"?", magenta},
	block.ActionNone:    {"=", faint},
}

// The colours, as SGR parameters.
const (
	bold    = "1"
	faint   = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
)

// Event writes an event of a run that changes a host.
func (t *Text) Event(e walk.Event) {
	switch e.Kind {
	case walk.StepFinished:
		t.finished(e)
	case walk.Diagnosed:
		t.Warning(warningOf(e))
	}
}

func (t *Text) finished(e walk.Event) {
	if e.Err != nil {
		t.enter(e.Stage)
		t.Out.printf("  %s %s: %s failed after %s\n", t.Out.paint(red, "✗"), e.Address, orCheck(e.Change.Action), took(e.Duration))
		return
	}
	if t.Quiet {
		return
	}
	if e.Change.Needed() || t.Verbose {
		t.enter(e.Stage)
		t.step(actionOf(e), fmt.Sprintf(" (%s)", took(e.Duration)))
		if e.Change.Made != "" {
			t.wait("", e.Address, "from "+e.Change.Made)
		}
	}
	for _, text := range e.Change.Deferred {
		t.enter(e.Stage)
		t.wait("later", e.Address, text)
	}
	for _, p := range e.Change.Pending {
		t.enter(e.Stage)
		t.wait("pending", e.Address, Pending{e.Address, p.Machine, p.Needs, p.Reason}.sentence())
	}
}

// enter names a stage above its first line.
func (t *Text) enter(stage string) {
	switch {
	case stage == t.stage:
	case stage == "":
		t.head("outside of stages")
	default:
		t.head("stage " + stage)
	}
	t.stage = stage
}

func (t *Text) head(text string) { t.Out.printf("%s\n", t.Out.paint(bold, text)) }

func (t *Text) step(a Action, tail string) {
	sign := signs[block.Action(a.Action)]
	where := a.Address
	if a.Reason != "" {
		where += ": " + a.Reason
	}
	t.Out.printf("  %s %-7s %s%s\n", t.Out.paint(sign.color, sign.sign), a.Action, where, t.Out.paint(faint, tail))
}

// wait writes what is not done in this run.
func (t *Text) wait(word, address, text string) {
	t.Out.printf("  %s %-7s %s: %s\n", t.Out.paint(faint, "…"), word, address, text)
}

// Warning writes a diagnostic that has no source.
func (t *Text) Warning(d Diagnostic) {
	word := t.Notes.paint(yellow, d.Severity)
	if d.Severity == "error" {
		word = t.Notes.paint(red, d.Severity)
	}
	text := d.Summary
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	if d.Address != "" {
		text = d.Address + ": " + text
	}
	t.Notes.printf("%s: %s\n", word, text)
}

// Finish writes the last line of a run.
func (t *Text) Finish(f Finished) {
	c := f.Counts
	switch {
	case f.Result == "failed":
		t.Out.printf("%s after %s: %d changed, %d unchanged, %d failed.\n", t.Out.paint(red, "Failed"), took(f.Took), c.Changed, c.Unchanged, c.Failed)
	case f.Command == "reset" && c.Changed > 0:
		t.Out.printf("%s: %s undone (%s).\n", t.Out.paint(green, "Reset"), counted(c.Changed, "thing", "things"), took(f.Took))
	case c.Changed == 0:
		t.Out.printf("%s (%s).%s\n", nothingToDo(c.Unchanged), took(f.Took), deferredTail(f))
	default:
		t.Out.printf("%s: %d changed, %d unchanged (%s).%s\n", t.Out.paint(green, "Done"), c.Changed, c.Unchanged, took(f.Took), deferredTail(f))
	}
	if t.Quiet {
		return
	}
	for _, o := range f.Outputs {
		t.Out.printf("%s = %s\n", o.Name, o.text())
	}
}

func deferredTail(f Finished) string {
	if f.Result == "deferred" {
		return " The rest waits for the first boot."
	}
	return ""
}

// nothingToDo says so, with the number of steps that are as wanted.
func nothingToDo(steps int) string {
	if steps == 0 {
		return "Nothing to do"
	}
	return "Nothing to do: " + counted(steps, "step is", "steps are") + " as wanted"
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orCheck(a block.Action) string {
	if a == "" || a == block.ActionNone {
		return "check"
	}
	return string(a)
}

func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func (p Pen) paint(color, s string) string {
	if !p.Color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// printf drops write errors: there is nobody left to tell.
func (p Pen) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.W, format, args...) }

func (p Pen) diff(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		color := ""
		switch {
		case strings.HasPrefix(line, "+"):
			color = green
		case strings.HasPrefix(line, "-"):
			color = red
		case strings.HasPrefix(line, "@@"):
			color = cyan
		}
		p.printf("      %s\n", p.paint(color, line))
	}
}
