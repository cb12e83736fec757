package history

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// canvas writes SVG elements.
type canvas struct{ strings.Builder }

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// SVG writes a picture of a run: a bar for each step under the one it waited
// for, long work inside it, and an arrow from a change to the restart that it
// caused.
func SVG(w io.Writer, r *Run) error {
	c := &canvas{}
	c.WriteString(xml.Header)
	c.draw(newChart(r))
	_, err := io.WriteString(w, c.String())
	return err
}

const style = "text{font:11px system-ui,sans-serif;fill:#343a40}.h{font-size:16px;font-weight:600}.s{fill:#868e96}.b{font-weight:600}" +
	".g{stroke:#dee2e6;stroke-width:1}.q{stroke:#adb5bd;stroke-width:1;stroke-dasharray:2 2}.a{stroke:#1c7ed6;stroke-width:1.5;fill:none}"

func (c *canvas) draw(ch *chart) {
	high := ch.bottom() + 66
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" role="img">`+"\n", width, high, width, high)
	c.printf("<title>%s</title>\n<style>%s</style>\n", escaped(headline(ch.run)), style)
	c.printf(`<defs><marker id="p" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#1c7ed6"/></marker></defs>` + "\n")
	c.printf(`<rect width="100%%" height="100%%" fill="#ffffff"/>` + "\n")
	c.text(16, 28, "h", headline(ch.run))
	c.text(16, 48, "s", ending(ch.run))
	c.bands(ch)
	c.axis(ch)
	for i := range ch.rows {
		c.wait(ch, i)
	}
	for i := range ch.rows {
		c.bar(&ch.rows[i], ch)
	}
	for i := range ch.rows {
		c.arrows(ch, i)
	}
	c.legend(ch)
	c.WriteString("</svg>\n")
}

func (c *canvas) bands(ch *chart) {
	for i, b := range ch.bands {
		fill := "#f8f9fa"
		if i%2 == 1 {
			fill = "#f1f3f5"
		}
		c.printf(`<rect x="0" y="%.1f" width="%d" height="%.1f" fill="%s"/>`+"\n", b.from, width, b.height, fill)
		name := b.name
		if name == "" {
			name = "(no stage)"
		}
		c.text(12, b.from+15, "b", clipped(name, 24))
	}
}

func (c *canvas) axis(ch *chart) {
	for _, at := range ch.ticks() {
		x := ch.x(at.Microseconds())
		c.printf(`<line class="g" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/>`+"\n", x, headHigh-8, x, ch.bottom())
		c.text(x+2, headHigh-12, "s", tick(at.Seconds()))
	}
}

func tick(seconds float64) string { return fmt.Sprintf("%g s", seconds) }

// wait draws that a step began when the one above it had ended.
func (c *canvas) wait(ch *chart, i int) {
	if i == 0 {
		return
	}
	above, r := &ch.rows[i-1], &ch.rows[i]
	c.printf(`<path class="q" fill="none" d="M%.1f %.1fV%.1f"/>`+"\n", r.x, above.y+4+barHigh, r.y+4)
}

func (c *canvas) bar(r *row, ch *chart) {
	s := r.step
	c.printf(`<g><title>%s</title>`, escaped(hint(s)))
	c.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2" fill="%s"/>`, r.x, r.y+4, r.w, barHigh, r.color)
	for _, w := range s.Work {
		x := ch.x(w.StartUsec)
		wide := ch.x(w.StartUsec+w.DurationUsec) - x
		if wide >= minBar {
			c.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="4" fill="%s" opacity="0.7"/>`, x, r.y+9, wide, workColor)
		}
	}
	c.WriteString("</g>\n")
	label, anchor, x := r.label, "start", r.x+r.w+5
	if s.Error != "" {
		label += " failed"
	}
	switch {
	case r.inside:
		anchor, x = "end", r.x-5
	case x+float64(len(label))*charWide > width-right:
		x = max(left+5, width-right-float64(len(label))*charWide) // across the bar
	}
	c.printf(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, r.y+15, anchor, escaped(label))
}

// hint is what a pointer over a bar shows.
func hint(s *Step) string {
	lines := []string{s.Address, fmt.Sprintf("%s, from %s, for %s", s.Action, short(usec(s.StartUsec)), short(s.Duration()))}
	for _, line := range []string{s.Reason, s.Error} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, w := range s.Work {
		lines = append(lines, fmt.Sprintf("%s %s: %s, %d bytes", w.What, w.Name, short(usec(w.DurationUsec)), w.Bytes))
	}
	for _, cause := range s.After {
		lines = append(lines, "because of "+cause)
	}
	return strings.Join(lines, "\n")
}

// arrows lead from the changes that a step acted upon to it.
func (c *canvas) arrows(ch *chart, i int) {
	r := &ch.rows[i]
	for _, at := range r.causes {
		from := &ch.rows[at]
		// Down, where no bar is: what comes later begins further right.
		c.printf(`<path class="a" marker-end="url(#p)" d="M%.1f %.1fV%.1fH%.1f"/>`+"\n", from.x+1, from.y+4+barHigh, r.y+4+barHigh/2, r.x)
	}
}

func (c *canvas) legend(ch *chart) {
	y, x := ch.bottom()+26, float64(left)
	for _, action := range []string{"create", "update", "replace", "delete", "restart", "run", "none"} {
		c.printf(`<rect x="%.1f" y="%.1f" width="12" height="12" rx="2" fill="%s"/>`, x, y-10, colors[action])
		c.text(x+16, y, "", action)
		x += 84
	}
	c.printf(`<rect x="%.1f" y="%.1f" width="12" height="12" rx="2" fill="%s"/>`, x, y-10, failColor)
	c.text(x+16, y, "", "failed")
	note := "Steps run in turn: each waited for the one above it (dotted). An arrow leads from a change to what was restarted for it; a light stripe is a download or an unpacking."
	c.text(left, y+18, "s", note)
	if ch.leftOut > 0 {
		c.text(left, y+34, "s", fmt.Sprintf("Not shown, as they needed nothing and took less than %s each: %d.", short(ch.shortest), ch.leftOut))
	}
}

func (c *canvas) text(x, y float64, class, s string) {
	if class != "" {
		class = fmt.Sprintf(` class="%s"`, class)
	}
	c.printf(`<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, y, class, escaped(s))
}

// escaped is text as XML holds it; what XML cannot hold is replaced.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
