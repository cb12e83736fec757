package rehearse

import (
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
)

// Coverage is how much of a recipe its tests saw: steps that were on, both
// answers of each when, and variables that were given a value.
type Coverage struct {
	Steps, Branches, Variables Covered
}

// Covered counts one kind of thing.
type Covered struct {
	Total  int
	Missed []Missed
}

// Missed is a thing that no test saw.
type Missed struct {
	Name  string
	Range hcl.Range
}

// Seen is how many were seen.
func (c Covered) Seen() int { return c.Total - len(c.Missed) }

// cover collects what tests saw.
type cover struct {
	mu    sync.Mutex
	steps map[hcl.Range]bool
	whens map[hcl.Range]*[2]bool // false, true
	vars  map[string]bool
}

func newCover() *cover {
	return &cover{steps: map[hcl.Range]bool{}, whens: map[hcl.Range]*[2]bool{}, vars: map[string]bool{}}
}

// evaluated notes what the recipe is on the host of a run.
func (c *cover) evaluated(d *eval.Desk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rng := range d.Steps() {
		c.steps[rng] = true
	}
	for _, w := range d.Whens() {
		if c.whens[w.Range] == nil {
			c.whens[w.Range] = &[2]bool{}
		}
		if w.On {
			c.whens[w.Range][1] = true
		} else {
			c.whens[w.Range][0] = true
		}
	}
}

// inputs notes which variables were given.
func (c *cover) inputs(r *eval.Recipe, in eval.Inputs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range r.Variables() {
		if in.Given(v.Name) {
			c.vars[v.Name] = true
		}
	}
}

// of is the coverage of a recipe.
func (c *cover) of(r *eval.Recipe) (out Coverage) {
	for _, v := range r.Variables() {
		out.Variables.count(c.vars[v.Name], "var."+v.Name, v.Range)
	}
	none, _ := r.Inputs(nil)
	inspection, _ := r.Inspect(none)
	seen := map[hcl.Range]bool{}
	for _, s := range inspection.Steps {
		if s.Used || s.Part == block.PartAfterStop || seen[s.Header] {
			continue
		}
		seen[s.Header] = true
		out.Steps.count(c.steps[s.Header], address(s), s.Header)
	}
	if file := r.File(); file != nil {
		c.branches(file.Body, &out.Branches)
	}
	slices.SortFunc(out.Branches.Missed, func(a, b Missed) int { return a.Range.Start.Byte - b.Range.Start.Byte })
	return out
}

// address is that of a step without the keys of its instance.
func address(s *eval.Inspected) string {
	text := s.Type.Name + "." + s.Label
	if !hclsyntax.ValidIdentifier(s.Label) {
		text = s.Type.Name + "[\"" + s.Label + "\"]"
	}
	if s.Owner != nil {
		return address(s.Owner) + "." + text
	}
	return text
}

// branches counts the two answers of every when below a body.
func (c *cover) branches(body *hclsyntax.Body, out *Covered) {
	for _, b := range body.Blocks {
		if a := b.Body.Attributes["when"]; a != nil {
			answers := c.whens[a.Expr.Range()]
			if answers == nil {
				answers = &[2]bool{}
			}
			out.count(answers[1], "when is true", a.SrcRange)
			out.count(answers[0], "when is false", a.SrcRange)
		}
		c.branches(b.Body, out)
	}
}

func (c *Covered) count(seen bool, name string, rng hcl.Range) {
	c.Total++
	if !seen {
		c.Missed = append(c.Missed, Missed{name, rng})
	}
}
