package graph

import (
	"fmt"
	"strings"
)

// grouped writes the nodes in their groups: open and end are called where a
// group begins and ends, with its depth.
func (g *Graph) grouped(open func(depth int, name string), node func(depth, i int), end func(depth int)) {
	var path []string
	leave := func(to int) {
		for len(path) > to {
			path = path[:len(path)-1]
			end(len(path))
		}
	}
	for i, n := range g.Nodes {
		same := 0
		for same < len(path) && same < len(n.Group) && path[same] == n.Group[same] {
			same++
		}
		leave(same)
		for _, name := range n.Group[same:] {
			open(len(path), name)
			path = append(path, name)
		}
		node(len(path), i)
	}
	leave(0)
}

func indent(depth int) string { return strings.Repeat("  ", depth+1) }

// mermaid is a flowchart.
func (g *Graph) mermaid() string {
	var b strings.Builder
	groups := 0
	quote := func(s string) string { return `"` + strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(s) + `"` }
	b.WriteString("flowchart TD\n")
	g.grouped(func(depth int, name string) {
		groups++
		fmt.Fprintf(&b, "%ssubgraph g%d[%s]\n", indent(depth), groups, quote(name))
	}, func(depth, i int) {
		off := ""
		if g.Nodes[i].Off {
			off = ":::off"
		}
		fmt.Fprintf(&b, "%sn%d[%s]%s\n", indent(depth), i, quote(short(g.Nodes[i])), off)
	}, func(depth int) { fmt.Fprintf(&b, "%send\n", indent(depth)) })
	for i := 1; i < len(g.Nodes); i++ {
		fmt.Fprintf(&b, "  n%d --> n%d\n", i-1, i)
	}
	for _, w := range g.Watches {
		fmt.Fprintf(&b, "  n%d -. watched by .-> n%d\n", w[0], w[1])
	}
	b.WriteString("  classDef off stroke-dasharray: 5 5\n")
	return b.String()
}

// dot is a digraph for Graphviz.
func (g *Graph) dot() string {
	var b strings.Builder
	groups := 0
	fmt.Fprintf(&b, "digraph %q {\n  rankdir = TB\n  node [shape = box, fontname = \"sans-serif\"]\n", g.Title)
	g.grouped(func(depth int, name string) {
		groups++
		fmt.Fprintf(&b, "%ssubgraph cluster_%d {\n%slabel = %q\n", indent(depth), groups, indent(depth+1), name)
	}, func(depth, i int) {
		style := ""
		if g.Nodes[i].Off {
			style = ", style = dashed"
		}
		fmt.Fprintf(&b, "%sn%d [label = %q%s]\n", indent(depth), i, short(g.Nodes[i]), style)
	}, func(depth int) { fmt.Fprintf(&b, "%s}\n", indent(depth)) })
	for i := 1; i < len(g.Nodes); i++ {
		fmt.Fprintf(&b, "  n%d -> n%d\n", i-1, i)
	}
	for _, w := range g.Watches {
		fmt.Fprintf(&b, "  n%d -> n%d [style = dashed, constraint = false, label = \"watched by\"]\n", w[0], w[1])
	}
	b.WriteString("}\n")
	return b.String()
}

// short is a node's name among its neighbours.
func short(n Node) string { return n.Type + " " + n.Label }
