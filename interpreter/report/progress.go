package report

import (
	"fmt"
	"time"
	"unicode/utf8"

	"hostler/interpreter/walk"
)

// Throttle lets of the progress events of long work only so many pass that
// they can be followed.
type Throttle struct {
	// Every is the least time between two progress events.
	Every time.Duration
	last  time.Time
}

// Pass says whether an event is to be shown. The end of a piece of work always
// is.
func (t *Throttle) Pass(e walk.Event) bool {
	if e.Kind != walk.Progressed {
		return true
	}
	ended := e.Progress.Total > 0 && e.Progress.Done >= e.Progress.Total
	if !ended && e.Time.Sub(t.last) < t.Every {
		return false
	}
	t.last = e.Time
	return true
}

// Progress shows on a terminal what is being done: one line, which the next
// event takes away.
type Progress struct {
	Pen
	// Width is that of the terminal, in columns.
	Width int
	shown bool
}

// Event shows or clears the line.
func (p *Progress) Event(e walk.Event) {
	p.Clear()
	switch e.Kind {
	case walk.StepStarted:
		p.show(fmt.Sprintf("  … %s: %s", e.Address, e.Change.Action))
	case walk.Progressed:
		p.show(fmt.Sprintf("  … %s: %s %s %s", e.Address, e.Progress.What, e.Progress.Name, amount(e.Progress.Done, e.Progress.Total)))
	}
}

func (p *Progress) show(line string) {
	if over := utf8.RuneCountInString(line) - (p.Width - 1); over > 0 {
		runes := []rune(line)
		line = string(runes[:len(runes)-over-1]) + "…"
	}
	p.printf("%s", p.paint(faint, line))
	p.shown = true
}

// Clear takes the line away.
func (p *Progress) Clear() {
	if p.shown {
		p.printf(eraseLine)
	}
	p.shown = false
}

// amount says how much is done, in binary units.
func amount(done, total int64) string {
	if total <= 0 {
		return binary(done)
	}
	return fmt.Sprintf("%s of %s (%d %%)", binary(done), binary(total), done*100/total)
}

func binary(n int64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/step, 0
	for value >= step && unit < 3 {
		value /= step
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[unit])
}
