package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/syntax"
)

// local is a named expression.
type local struct {
	name string
	expr hclsyntax.Expression
	rng  hcl.Range // of the name
	// state says how far the check is.
	state checkState
	// level is what the value depends on, targets the steps it refers to,
	// through other locals too.
	level   place
	targets []target
}

type checkState int

const (
	unchecked checkState = iota
	checking
	checked
)

func (r *Recipe) readLocals(b *hclsyntax.Block) {
	if len(b.Labels) > 0 {
		r.errorf(b.LabelRanges[0], "Unexpected label", "A locals block has no label. Write locals { NAME = … }.")
	}
	for _, inner := range b.Body.Blocks {
		r.errorf(inner.TypeRange, "Unknown block", "A locals block has arguments only. Write %s = … .", inner.Type)
	}
	for _, a := range syntax.Attributes(b.Body) {
		if other := r.locals[a.Name]; other != nil {
			r.errorf(a.NameRange, "Duplicate local", "The local %q is declared at %s already. Remove or rename one.", a.Name, where(other.rng))
			continue
		}
		r.locals[a.Name] = &local{name: a.Name, expr: a.Expr, rng: a.NameRange}
	}
}

// localsInOrder are the locals in the order written.
func (r *Recipe) localsInOrder() []*local {
	list := make([]*local, 0, len(r.locals))
	for _, l := range r.locals {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *local) int { return a.rng.Start.Byte - b.rng.Start.Byte })
	return list
}

func (r *Recipe) localNames() []string {
	var names []string
	for _, l := range r.localsInOrder() {
		names = append(names, l.name)
	}
	return names
}

// checkLocal checks a local and those it refers to, once. path is the chain of
// locals that led here.
func (r *Recipe) checkLocal(l *local, path []*local) {
	switch l.state {
	case checked:
		return
	case checking:
		r.reportCycle(append(path, l))
		return
	}
	l.state = checking
	s := site{recipe: r, name: "local." + l.name, place: placeValue, scope: r.scope, order: anyOrder, locals: append(path, l), found: &l.targets}
	l.level, _ = s.check(l.expr)
	l.state = checked
}

// reportCycle reports the locals from the last one's first appearance on.
func (r *Recipe) reportCycle(path []*local) {
	last := path[len(path)-1]
	start := slices.Index(path, last)
	names := make([]string, 0, len(path)-start)
	for _, l := range path[start:] {
		names = append(names, l.name)
	}
	r.errorf(last.rng, "Cycle of locals", "These locals need each other: %s. Write one of them without the next.", strings.Join(names, " -> "))
}
