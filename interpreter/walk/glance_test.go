package walk_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// turned is a clock whose hand a test moves.
type turned struct {
	host.Clock
	ahead *time.Duration
}

func (c turned) Monotonic() time.Duration { return c.Clock.Monotonic() + *c.ahead }

// TestUnitFilesAreReadOnce: steps that need nothing are told what the first one
// saw of unit files, for a second, until one needs a change, and never in a run
// that goes on with what another began.
func TestUnitFilesAreReadOnce(t *testing.T) {
	const dir = "/etc/systemd/system"
	for name, c := range map[string]struct {
		phase record.Phase
		acts  string // the step that needs a change
		late  string // the step before which a second goes by
		want  map[string]int
	}{
		"nothing to do":     {phase: record.Complete, want: map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}},
		"b is to be done":   {phase: record.Complete, acts: "b", want: map[string]int{"a": 1, "b": 1, "c": 3, "d": 4}},
		"c comes late":      {phase: record.Complete, late: "c", want: map[string]int{"a": 1, "b": 1, "c": 3, "d": 3}},
		"an unfinished one": {phase: record.Installing, want: map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{Files: map[string]memory.File{dir + "/first.service": {Content: "[Unit]\n"}}})
			s.rec.Phase = c.phase
			var look block.Look
			var ahead time.Duration
			got := map[string]int{}
			done := false
			a := &acts{check: func(label string) (block.Change, error) {
				if _, seen := got[label]; !seen {
					names, err := host.Names(look.View.Files, dir)
					s.ok(err)
					names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".service") })
					got[label] = len(names)
					// Somebody else writes a file meanwhile.
					s.ok(afero.WriteFile(s.Host().Files, dir+"/"+label+".service", nil, 0o644))
				}
				if label == c.acts && !done {
					return block.Change{Action: block.ActionRun, Reason: "not done"}, nil
				}
				return block.NoChange(), nil
			}}
			a.apply = func(context.Context, string, block.Do) error { done = true; return nil }
			typ := a.blockType()
			typ.New = lookingAt(a, &look)
			s.extra = []*block.Type{typ}
			s.wrap = func(h host.Host) host.Host { h.Clock = turned{h.Clock, &ahead}; return h }
			s.tune = func(in *walk.Input) {
				emit := in.Emit
				in.Emit = func(e walk.Event) {
					if emit(e); e.Kind == walk.StepFinished && c.late != "" && strings.HasSuffix(e.Address, "."+string(c.late[0]-1)) {
						ahead += 2 * time.Second
					}
				}
			}
			s.drive("act \"a\" {}\nact \"b\" {}\nact \"c\" {}\nact \"d\" {}\n")
			for _, label := range slices.Sorted(maps.Keys(c.want)) {
				if got[label] != c.want[label] {
					t.Errorf("%s saw %d files, want %d", label, got[label], c.want[label])
				}
			}
		})
	}
}
