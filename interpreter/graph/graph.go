// Package graph draws recipes: their steps in order, grouped by stage and
// machine, and who watches whom. There is no other graph in a recipe: order is
// what is written.
package graph

import (
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
)

// Graph is a recipe as it is drawn.
type Graph struct {
	Title string
	Nodes []Node
	// Watches lead from the step that is watched to the one that watches, by
	// place in Nodes.
	Watches [][2]int
}

// Node is a step as written, with all its instances.
type Node struct {
	Address, Type, Label string
	// Group is the path of what it stands in: stage, use block, machine and
	// phase.
	Group []string
	// Off says that its when is false, whatever the host.
	Off bool
}

// Of draws a recipe, as far as it can be understood without a host.
func Of(r *eval.Recipe, in eval.Inputs) (*Graph, hcl.Diagnostics) {
	inspection, diags := r.Inspect(in)
	if inspection.Broken() {
		return nil, diags
	}
	g := &Graph{Title: r.Header().Name + " " + r.Header().Version}
	place := map[string]int{}
	for _, s := range inspection.Steps {
		name := address(s)
		if at, had := place[name]; had {
			g.Nodes[at].Off = g.Nodes[at].Off && s.Off
			continue
		}
		place[name] = len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{Address: name, Type: s.Type.Name, Label: s.Label, Group: group(s), Off: s.Off})
	}
	for _, s := range inspection.Steps {
		g.watches(s, place)
	}
	return g, diags
}

// watches adds what a step watches.
func (g *Graph) watches(s *eval.Inspected, place map[string]int) {
	if s.Used {
		return // what it refers to is not known from here
	}
	for _, attr := range s.Type.Schema.Attrs {
		if !attr.Refs {
			continue
		}
		for _, ref := range s.Refs(attr.Name) {
			for _, target := range ref.Steps {
				edge := [2]int{place[address(target)], place[address(s)]}
				if !slices.Contains(g.Watches, edge) {
					g.Watches = append(g.Watches, edge)
				}
			}
		}
	}
}

// address is that of a step without keys of instances.
func address(s *eval.Inspected) string {
	if s.Used {
		return s.Address
	}
	text := s.Type.Name + "." + s.Label
	if !hclsyntax.ValidIdentifier(s.Label) {
		text = fmt.Sprintf("%s[%q]", s.Type.Name, s.Label)
	}
	if s.Owner != nil {
		return address(s.Owner) + "." + text
	}
	return text
}

// group is what a step stands in.
func group(s *eval.Inspected) (path []string) {
	if s.Owner != nil {
		path = append(group(s.Owner), address(s.Owner), s.Part)
	}
	if s.Stage != "" && (s.Owner == nil || s.Owner.Stage != s.Stage) {
		path = append(path, "stage "+s.Stage)
	}
	return path
}

// Names are the forms, the default first.
func Names() []string { return []string{"mermaid", "dot", "svg"} }

// Write writes the graph in a form.
func (g *Graph) Write(w io.Writer, name string) error {
	var text string
	switch name {
	case "mermaid":
		text = g.mermaid()
	case "dot":
		text = g.dot()
	case "svg":
		text = g.svg()
	default:
		return fmt.Errorf("there is no form %q", name)
	}
	_, err := io.WriteString(w, text)
	return err
}
