//go:build e2e

package bench

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// table is the results as a table.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| recipe | steps | wall | CPU | memory | system calls | writes | packets | wall a step |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %v | %v | %.1f MB | %d | %d | %d | %v |\n", r.what, r.steps,
			r.wall.Round(100*time.Microsecond), r.cpu().Round(100*time.Microsecond), float64(r.rss)/(1<<20), r.calls, r.writes, r.packets,
			(r.wall / time.Duration(r.steps)).Round(100*time.Nanosecond))
	}
	return b.String()
}

// The plot's size and margins in pixels, and the range of its axes: steps from
// 10^2 to 10^4, times from 10^0 to 10^4 ms.
const (
	plotWidth, plotHeight = 480, 320
	plotMargin            = 48
)

func plotX(steps int) float64 {
	return plotMargin + (math.Log10(float64(steps))-2)/2*(plotWidth-2*plotMargin)
}

func plotY(d time.Duration) float64 {
	return plotHeight - plotMargin - math.Log10(d.Seconds()*1000)/4*(plotHeight-2*plotMargin)
}

// plot draws wall time and CPU time by the number of steps, both logarithmic:
// what is linear is a straight line.
func plot(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", plotWidth, plotHeight)
	for _, steps := range []int{100, 1000, 10000} {
		fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%d steps</text>\n", plotX(steps), plotHeight-plotMargin/2, steps)
		fmt.Fprintf(&b, "<path d=\"M%.0f %d V%d\" stroke=\"#ddd\"/>\n", plotX(steps), plotMargin, plotHeight-plotMargin)
	}
	for ms := 1; ms <= 10000; ms *= 10 {
		y := plotY(time.Duration(ms) * time.Millisecond)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%d ms</text>\n", plotMargin-4, y+4, ms)
		fmt.Fprintf(&b, "<path d=\"M%d %.0f H%d\" stroke=\"#ddd\"/>\n", plotMargin, y, plotWidth-plotMargin)
	}
	b.WriteString(line(rows, "wall", "#06c", func(r row) time.Duration { return r.wall }))
	b.WriteString(line(rows, "CPU", "#c60", row.cpu))
	b.WriteString("</svg>\n")
	return b.String()
}

func line(rows []row, name, colour string, value func(row) time.Duration) string {
	var points []string
	for _, r := range rows {
		points = append(points, fmt.Sprintf("%.1f,%.1f", plotX(r.steps), plotY(value(r))))
	}
	last := rows[len(rows)-1]
	return fmt.Sprintf("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\"/>\n<text x=\"%.0f\" y=\"%.0f\" fill=\"%s\">%s</text>\n",
		strings.Join(points, " "), colour, plotX(last.steps)+4, plotY(value(last))+4, colour, name)
}
