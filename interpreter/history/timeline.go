package history

import (
	"fmt"
	"strings"
	"time"
)

// The measures of the picture, in pixels.
const (
	width    = 1180
	left     = 170 // of the stage's names
	right    = 24
	rowHigh  = 22
	barHigh  = 14
	headHigh = 92
	plotWide = width - left - right
	charWide = 6.1 // of the small text, on average
	minBar   = 2.0
)

// chart is where everything of a run stands in the picture.
type chart struct {
	run   *Run
	total time.Duration
	rows  []row
	bands []band
	// left out are steps that needed nothing and took next to no time.
	leftOut  int
	shortest time.Duration
}

// row is one step with its bar.
type row struct {
	step   *Step
	y      float64
	x, w   float64
	label  string
	inside bool // the label stands left of the bar
	color  string
	// causes are the rows that it acted upon.
	causes []int
}

// band is a stage, which spans rows.
type band struct {
	name   string
	from   float64
	height float64
}

// colors are those of bars, by action.
var colors = map[string]string{
	"create": "#2f9e44", "update": "#e8890c", "replace": "#d9480f", "delete": "#868e96", "restart": "#1c7ed6", "run": "#7048e8",
	"none": "#ced4da", "unknown": "#868e96",
}

const (
	failColor = "#e03131"
	workColor = "#ffffff"
)

// newChart lays a run out.
func newChart(r *Run) *chart {
	c := &chart{run: r, total: max(r.Duration(), time.Millisecond)}
	for i := range r.Steps {
		c.total = max(c.total, time.Duration(r.Steps[i].StartUsec+r.Steps[i].DurationUsec)*time.Microsecond)
	}
	c.shortest = c.total / 200
	y := float64(headHigh)
	places := map[string]int{}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Action == "none" && s.Error == "" && s.Duration() < c.shortest {
			c.leftOut++
			continue
		}
		c.band(s.Stage, y)
		places[s.Address] = len(c.rows)
		c.rows = append(c.rows, c.row(s, y, places))
		y += rowHigh
	}
	return c
}

func (c *chart) band(stage string, y float64) {
	if n := len(c.bands); n > 0 && c.bands[n-1].name == stage {
		c.bands[n-1].height += rowHigh
		return
	}
	c.bands = append(c.bands, band{stage, y, rowHigh})
}

func (c *chart) row(s *Step, y float64, places map[string]int) row {
	r := row{step: s, y: y, x: c.x(s.StartUsec), label: s.Address + " (" + short(s.Duration()) + ")", color: colors[s.Action]}
	r.w = max(minBar, c.x(s.StartUsec+s.DurationUsec)-r.x)
	if s.Error != "" {
		r.color = failColor
	}
	text := float64(len(r.label)) * charWide
	r.inside = r.x+r.w+text > width-right && r.x-text > left
	for _, cause := range s.After {
		if at, ok := places[cause]; ok {
			r.causes = append(r.causes, at)
		}
	}
	return r
}

// x is where a time stands, in microseconds from the beginning.
func (c *chart) x(usec int64) float64 {
	return left + plotWide*float64(usec)/float64(c.total.Microseconds())
}

func (c *chart) bottom() float64 { return headHigh + float64(len(c.rows))*rowHigh }

// ticks are the times that are marked: some, at round values.
func (c *chart) ticks() (all []time.Duration) {
	step := time.Millisecond
	for _, factor := range []time.Duration{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000} {
		if step = factor * time.Millisecond; c.total/step <= 10 {
			break
		}
	}
	for c.total/step > 20 {
		step *= 2
	}
	for at := time.Duration(0); at <= c.total; at += step {
		all = append(all, at)
	}
	return all
}

// short is a duration in three digits or so.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// headline is what stands above the picture.
func headline(r *Run) string {
	return strings.TrimRight(fmt.Sprintf("Run %d: hostler %s %s %s", r.Number, r.Command, r.Recipe, r.RecipeVersion), " ")
}

// ending says how the run ended.
func ending(r *Run) string {
	text := fmt.Sprintf("%s, %s after %s: %d changed, %d unchanged, %d failed", r.Began.UTC().Format("2006-01-02 15:04:05 UTC"), r.Result, short(r.Duration()), r.Changed, r.Unchanged, r.Failed)
	if r.Step != "" {
		text += "; it failed at " + r.Step
		if r.Reason != "" {
			text += " (" + r.Reason + ")"
		}
	}
	return text
}
