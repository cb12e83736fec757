package blocktest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

func (c Case) plainData(t testing.TB) {
	args := c.args(t)
	step, again := StepOf(t, c.Type, args), c.reread(t, args, false)
	if diff := cmp.Diff(owns(step), owns(again)); diff != "" {
		t.Errorf("made again from plain data, the step owns something else (-before +after):\n%s", diff)
	}
	s := c.stage()
	change, err := s.Check(step)
	same, errAgain := s.Check(again)
	if diff := cmp.Diff(change, same); diff != "" || (err == nil) != (errAgain == nil) {
		t.Errorf("made again from plain data, the step checks otherwise (-before +after):\n%s\n%v\n%v", diff, err, errAgain)
	}
}

// reread makes the step again from its plain data, slimmed as claims hold it
// if asked for.
func (c Case) reread(t testing.TB, args block.Args, slim bool) block.Step {
	data, err := block.Plain(c.Type.Schema, args.Value, args.Holes)
	if err == nil && slim {
		data, err = block.Slim(c.Type.Schema, data)
	}
	if err != nil {
		t.Fatalf("plain data: %v", err)
	}
	again := args
	again.Ranges = nil
	if again.Value, again.Holes, err = block.ParsePlain(c.Type.Schema, data); err != nil {
		t.Fatalf("reading plain data back: %v\n%s", err, data)
	}
	return StepOf(t, c.Type, again)
}

// ownership is thing.Owned in comparable form.
type ownership struct {
	Key                thing.Key
	Want               *thing.State
	Sensitive, Foreign bool
	DirMode            string
}

func owns(step block.Step) (list []ownership) {
	for _, o := range step.Owns() {
		list = append(list, ownership{o.Key(), o.Want, o.Sensitive, o.Foreign, o.DirMode})
	}
	return list
}
