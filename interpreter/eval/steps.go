package eval

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
)

// anyOrder is the place in the order from which every step is an earlier one.
const anyOrder = math.MaxInt

// step is a block as written: one step, or one for each instance of for_each.
type step struct {
	typ   *block.Type
	label string
	rng   hcl.Range // of the block's header
	// order is the place in the walk order of the recipe.
	order int
	// scope is where the step is declared, inner where those nested in it
	// are; nil when its type has none.
	scope, inner *scope
	// owner is the step it is nested in, phase the phase of it.
	owner *step
	phase *block.Phase
	stage *stage
	common
	args *arguments
	// reads are the exports that others refer to, allRead when it may be any.
	reads map[string]bool
	// parts are the steps nested in each phase, in order.
	parts map[string][]item
}

// common are the arguments that every step accepts; nil where not written.
type common struct {
	when, forEach, timeout, onDrift, description, failureReason hclsyntax.Expression
	retry                                                       *retryBlock
}

type retryBlock struct {
	rng                       hcl.Range
	attempts, delay, maxDelay hclsyntax.Expression
}

// stage groups steps.
type stage struct {
	label, description string
	rng                hcl.Range
	when               hclsyntax.Expression
	order              int
	// owner is the step it is nested in, nil at the top level.
	owner *step
	steps []*step
}

// stepPlace is where a step is written.
type stepPlace struct {
	scope *scope
	owner *step
	phase *block.Phase
	stage *stage
}

var commonNames = [...]string{"when", "for_each", "timeout", "on_drift", "description", "failure_reason"}

// scope is where labels are unique: the host, or one machine as a whole.
type scope struct {
	outer   *scope
	machine *step
	steps   map[string]map[string]*step
}

func newScope(outer *scope, machine *step) *scope {
	return &scope{outer: outer, machine: machine, steps: map[string]map[string]*step{}}
}

// find looks a step up, from the inside out.
func (s *scope) find(typ, label string) *step {
	for ; s != nil; s = s.outer {
		if st := s.steps[typ][label]; st != nil {
			return st
		}
	}
	return nil
}

// labels are the labels of a type that can be referred to.
func (s *scope) labels(typ string) []string {
	var names []string
	for ; s != nil; s = s.outer {
		for label := range s.steps[typ] {
			names = append(names, label)
		}
	}
	return names
}

// declare adds a step, or returns the one that has its type and label already.
func (s *scope) declare(st *step) (other *step) {
	if s.steps[st.typ.Name] == nil {
		s.steps[st.typ.Name] = map[string]*step{}
	}
	if other = s.steps[st.typ.Name][st.label]; other == nil {
		s.steps[st.typ.Name][st.label] = st
	}
	return other
}

// readStep reads a block where steps stand; nil when it is none.
func (r *Recipe) readStep(b *hclsyntax.Block, at stepPlace) *step {
	typ := r.vocab.Type(b.Type)
	if typ == nil {
		r.unknownBlock(b, at.owner != nil || at.stage != nil)
		return nil
	}
	label, ok := r.oneLabel(b, b.Type, "its name")
	if !ok || !r.mayStand(typ, b, at) {
		return nil
	}
	s := &step{
		typ: typ, label: label, rng: b.DefRange(), order: anyOrder,
		scope: at.scope, owner: at.owner, phase: at.phase, stage: at.stage, parts: map[string][]item{}, reads: map[string]bool{},
	}
	if other := at.scope.declare(s); other != nil {
		r.errorf(b.LabelRanges[0], "Duplicate label", "There is a %s %q at %s already. Labels are unique per type and place; give one another label%s.", b.Type, label, where(other.rng), nameHint(typ))
		return nil
	}
	r.readCommon(s, b.Body)
	s.args = r.readArguments(&typ.Schema, b, typ.Schema.Attrs, commonNames[:])
	if hasSteps(typ) {
		s.inner = newScope(at.scope, s)
	}
	r.readParts(s, b.Body)
	r.checkForEachName(s, b)
	return s
}

// nameHint says that a label may differ from the thing's name.
func nameHint(typ *block.Type) string {
	if nameAttr(typ) != nil {
		return " and write name = …"
	}
	return ""
}

// nameAttr is the attribute that names the thing where the label does not; nil
// when the label names nothing.
func nameAttr(typ *block.Type) *block.Attr {
	for i := range typ.Schema.Attrs {
		if a := &typ.Schema.Attrs[i]; a.Name == "name" && !a.Required {
			return a
		}
	}
	return nil
}

func hasSteps(typ *block.Type) bool {
	for _, p := range typ.Phases {
		if p.Steps {
			return true
		}
	}
	return false
}

// mayStand says whether a step of the type may be written there.
func (r *Recipe) mayStand(typ *block.Type, b *hclsyntax.Block, at stepPlace) bool {
	if at.owner == nil {
		return true
	}
	switch {
	case hasSteps(typ):
		r.errorf(b.TypeRange, "Misplaced step", "A %s cannot be nested in a %s. Write it at the top level.", typ.Name, at.owner.typ.Name)
		return false
	case typ.HostOnly && at.phase.Inside:
		r.errorf(b.TypeRange, "Misplaced step", "A %s works on the host only and cannot stand inside a machine. Write it at the top level, before the %s.", typ.Name, at.owner.typ.Name)
		return false
	case at.phase.AtRest:
		return r.mayRest(typ, b, at)
	}
	return true
}

// mayRest refuses steps that start, stop or ask something where nothing runs.
func (r *Recipe) mayRest(typ *block.Type, b *hclsyntax.Block, at stepPlace) bool {
	const advice = "Nothing runs in %s: steps there write files and enable units. Write it in after_boot."
	if typ.Runs {
		r.errorf(b.TypeRange, "Misplaced step", "A %s needs a running system. "+advice, typ.Name, at.phase.Name)
		return false
	}
	for _, a := range typ.Schema.Attrs {
		if written := b.Body.Attributes[a.Name]; a.Runs && written != nil {
			r.errorf(written.NameRange, "Misplaced argument", "%s starts or stops something. "+advice, a.Name, at.phase.Name)
		}
	}
	return true
}

func (r *Recipe) readCommon(s *step, body *hclsyntax.Body) {
	s.when = attributeExpr(body, "when")
	s.forEach = attributeExpr(body, "for_each")
	s.timeout = attributeExpr(body, "timeout")
	s.onDrift = attributeExpr(body, "on_drift")
	s.description = attributeExpr(body, "description")
	s.failureReason = attributeExpr(body, "failure_reason")
	for _, b := range body.Blocks {
		if b.Type == "retry" && nestedKind(&s.typ.Schema, "retry") == nil {
			r.readRetry(s, b)
		}
	}
}

func (r *Recipe) readRetry(s *step, b *hclsyntax.Block) {
	if len(s.typ.Retryable) == 0 {
		r.errorf(b.TypeRange, "No passing faults", "A %s has no faults that pass by themselves, so trying again does not help. Remove the retry block.", s.typ.Name)
		return
	}
	if s.retry != nil {
		r.errorf(b.DefRange(), "Second retry block", "A step has one retry block; the first is at %s. Remove this one.", where(s.retry.rng))
		return
	}
	for _, inner := range b.Body.Blocks {
		r.errorf(inner.TypeRange, "Unknown block", "A retry block has no nested blocks.")
	}
	names := []string{"attempts", "delay", "max_delay"}
	for _, a := range b.Body.Attributes {
		if a.Name != names[0] && a.Name != names[1] && a.Name != names[2] {
			r.errorf(a.NameRange, "Unknown argument", "There is no argument %q here; write %s.%s", a.Name, oneOf(names), didYouMean(a.Name, names))
		}
	}
	s.retry = &retryBlock{
		rng: b.DefRange(), attempts: attributeExpr(b.Body, "attempts"),
		delay: attributeExpr(b.Body, "delay"), maxDelay: attributeExpr(b.Body, "max_delay"),
	}
	if s.retry.attempts == nil {
		r.errorf(b.DefRange(), "Missing required argument", "A retry block says how often to try: write attempts = 3.")
	}
}

// allRead stands for every export.
const allRead = "*"

// noteRead notes which export a reference reads.
func (s *step) noteRead(rest hcl.Traversal) {
	for _, tr := range rest {
		if attr, ok := tr.(hcl.TraverseAttr); ok {
			s.reads[attr.Name] = true
			return
		}
	}
	s.reads[allRead] = true
}

// address is how the step is written in references.
func (s *step) address() string {
	if hclsyntax.ValidIdentifier(s.label) {
		return s.typ.Name + "." + s.label
	}
	return fmt.Sprintf("%s[%s]", s.typ.Name, quote(s.label))
}
