package history

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width"/>
<title>%s</title>
<style>
body{font:14px system-ui,sans-serif;color:#212529;background:#fff;margin:24px;max-width:1200px}
svg{max-width:100%%;height:auto;border:1px solid #dee2e6;border-radius:4px}
table{border-collapse:collapse;margin-top:16px;width:100%%}
th,td{text-align:left;padding:4px 10px;border-bottom:1px solid #e9ecef;vertical-align:top}
th{font-weight:600;background:#f8f9fa}
th{white-space:nowrap}
td:last-child{overflow-wrap:anywhere}
td.n{text-align:right;white-space:nowrap}
.failed{color:#c92a2a}
</style>
</head>
<body>
`

// HTML writes a page with the picture and a table of the steps that did
// something. It needs no other file and no script.
func HTML(w io.Writer, r *Run) error {
	c := &canvas{}
	c.printf(page, escaped(headline(r)))
	c.draw(newChart(r))
	c.failure(r)
	c.table(r)
	c.WriteString("</body>\n</html>\n")
	_, err := io.WriteString(w, c.String())
	return err
}

func (c *canvas) failure(r *Run) {
	if r.Cause == "" {
		return
	}
	c.printf("<p class=\"failed\"><b>%s</b>: %s</p>\n", escaped(r.Reason), lines(r.Cause))
	if r.Advice != "" {
		c.printf("<p>%s</p>\n", lines(r.Advice))
	}
}

func (c *canvas) table(r *Run) {
	c.WriteString("<table>\n<tr><th>from</th><th>took</th><th>stage</th><th>step</th><th>action</th><th>why</th></tr>\n")
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.Did() && s.Error == "" {
			continue
		}
		why, class := s.Reason, ""
		if s.Error != "" {
			why, class = s.Error, ` class="failed"`
		}
		if len(s.After) > 0 {
			why += " (because of " + strings.Join(s.After, ", ") + ")"
		}
		c.printf("<tr%s><td class=\"n\">%s</td><td class=\"n\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", class,
			escaped(fmt.Sprintf("%.3f s", usec(s.StartUsec).Seconds())), escaped(short(s.Duration())), escaped(s.Stage), escaped(s.Address), escaped(s.Action), lines(why))
	}
	c.WriteString("</table>\n")
}

func lines(s string) string { return strings.ReplaceAll(escaped(s), "&#xA;", "<br/>") }

func usec(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
