package graph

import (
	"fmt"
	"html"
	"strings"
)

// The measures of a drawing, in pixels. The order is a list from top to bottom,
// groups are frames around their part of it, and watches are arcs beside it.
const (
	rowHeight  = 34
	boxHeight  = 24
	charWidth  = 8
	padding    = 12
	groupSpace = 22
	arcStep    = 14
)

// drawing is an SVG as it grows.
type drawing struct {
	body   strings.Builder
	y      int
	width  int
	middle []int // of each node
	frames []frame
	groups strings.Builder
}

type frame struct {
	name string
	top  int
}

// svg draws the graph.
func (g *Graph) svg() string {
	d := &drawing{y: groupSpace + padding, middle: make([]int, len(g.Nodes))}
	d.width = g.width()
	g.grouped(func(_ int, name string) {
		d.frames = append(d.frames, frame{name, d.y})
		d.y += groupSpace
	}, func(depth, i int) { d.node(g.Nodes[i], depth, i) }, func(depth int) { d.leave(depth) })
	for i := 1; i < len(g.Nodes); i++ {
		d.line(d.middle[i-1]+boxHeight/2, d.middle[i]-boxHeight/2)
	}
	arcs := 0
	for n, w := range g.Watches {
		reach := arcStep * (n%8 + 1)
		arcs = max(arcs, reach)
		d.arc(d.middle[w[0]], d.middle[w[1]], reach)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"13\">\n", d.width+arcs+2*padding, d.y+padding)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(g.Title))
	b.WriteString("<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n")
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", padding, padding+8, html.EscapeString(g.Title))
	b.WriteString(d.groups.String() + d.body.String() + "</svg>\n")
	return b.String()
}

// width is that of the widest row with its frames.
func (g *Graph) width() int {
	width := 0
	for _, n := range g.Nodes {
		width = max(width, len(short(n))*charWidth+2*padding*(len(n.Group)+2))
		for depth, name := range n.Group {
			width = max(width, len(name)*charWidth+2*padding*(depth+2))
		}
	}
	return width
}

func (d *drawing) node(n Node, depth, i int) {
	x, dash := padding*(depth+1), ""
	if n.Off {
		dash = " stroke-dasharray=\"5 5\""
	}
	d.middle[i] = d.y + boxHeight/2
	fmt.Fprintf(&d.body, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"#fff\" stroke=\"#333\"%s/>\n", x, d.y, d.width-2*x+padding, boxHeight, dash)
	fmt.Fprintf(&d.body, "<text x=\"%d\" y=\"%d\">%s</text>\n", x+padding/2, d.y+boxHeight-8, html.EscapeString(short(n)))
	d.y += rowHeight
}

// leave ends the innermost group.
func (d *drawing) leave(depth int) {
	f := d.frames[len(d.frames)-1]
	d.frames = d.frames[:len(d.frames)-1]
	x := padding*(depth+1) - padding/2
	// Outer frames end last and have to lie below inner ones.
	inner := d.groups.String()
	d.groups.Reset()
	fmt.Fprintf(&d.groups, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#0b6\" fill-opacity=\"0.07\" stroke=\"#999\"/>\n", x, f.top, d.width-2*x+padding, d.y-f.top-4)
	fmt.Fprintf(&d.groups, "<text x=\"%d\" y=\"%d\" fill=\"#555\">%s</text>\n", x+padding/2, f.top+15, html.EscapeString(f.name))
	d.groups.WriteString(inner)
	d.y += padding / 2
}

func (d *drawing) line(from, to int) {
	x := d.width * 3 / 4 // where every box is, and no label
	fmt.Fprintf(&d.body, "<path d=\"M%d,%d L%d,%d\" stroke=\"#333\" marker-end=\"url(#tip)\"/>\n", x, from, x, to)
}

// arc leads from a step to one that watches it, at the right.
func (d *drawing) arc(from, to, reach int) {
	x := d.width
	fmt.Fprintf(&d.body, "<path d=\"M%d,%d C%d,%d %d,%d %d,%d\" fill=\"none\" stroke=\"#06c\" stroke-dasharray=\"4 3\" marker-end=\"url(#tip)\"/>\n", x, from, x+reach*4/3, from, x+reach*4/3, to, x, to)
}
