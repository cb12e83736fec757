package walk

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// claim makes sure that what a step is about to touch stands in the durable
// record with what was there before, and that its parent directories exist.
func (w *walker) claim(ctx context.Context, p *block.Placed, in block.Do) error {
	if err := w.readClaims(); err != nil {
		return err
	}
	if err := w.capture(ctx, p, in); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	return w.shadowed(w.makeParents(in.Host, w.wants(p)))
}

// begin makes the record durable, before the first effect and whenever
// something joined it.
func (w *walker) begin(ctx context.Context) error {
	if !w.begun && w.Begin != nil {
		if err := w.Begin(ctx); err != nil {
			return err
		}
	}
	if !w.begun || w.unsaved {
		if err := w.Store.Save(ctx, w.Record); err != nil {
			return err
		}
	}
	w.begun, w.unsaved = true, false
	return nil
}

// capture looks at everything that is about to be touched in the step's scope
// and was not looked at before. All of a scope is captured at once, so that
// the record is written once and not once a step; what an earlier step of this
// run brought there since is captured when it is touched.
func (w *walker) capture(ctx context.Context, p *block.Placed, in block.Do) error {
	own := w.wants(p)
	if s := scopeOf(p); !w.captured[s] {
		w.captured[s] = true
		own = w.scopeWants(s, p)
	}
	if err := w.captureAll(ctx, in.Host, own); err != nil {
		return err
	}
	for _, want := range w.wants(p) {
		delete(w.fresh, want.Key)
	}
	return nil
}

// scopeWants are the things of all steps of a scope, those of p first.
func (w *walker) scopeWants(s scope, p *block.Placed) []record.Wanted {
	all := append([]record.Wanted(nil), w.wants(p)...)
	for i := range w.Desired {
		if q := &w.Desired[i]; scopeOf(q) == s && q != p {
			all = append(all, w.wants(q)...)
		}
	}
	return all
}

func (w *walker) captureAll(ctx context.Context, h host.Host, wants []record.Wanted) error {
	dirs := &dirList{seen: map[thing.Key]bool{}}
	for _, want := range wants {
		c := w.claimOf(want.Key)
		if c == nil {
			return fmt.Errorf("%s is not claimed", want.Key)
		}
		first := c.Origin.Kind == ""
		if !first && !w.fresh[want.Key] {
			continue
		}
		if err := w.origin(ctx, h, want, c); err != nil {
			return err
		}
		if first {
			if err := missingParents(h, want, dirs); err != nil {
				return err
			}
		}
	}
	for _, dir := range dirs.keys {
		w.Record.ClaimDir(dir)
		w.unsaved, w.index = true, nil
	}
	return nil
}

// claimOf is Record.Claim by an index, which is made anew when claims moved.
func (w *walker) claimOf(key thing.Key) *record.Claim {
	if w.index == nil {
		w.index = w.Record.Index()
	}
	return w.index[key]
}

// origin captures what a thing is before it is touched for the first time.
// What cannot be known yet is captured when it is touched.
func (w *walker) origin(ctx context.Context, h host.Host, want record.Wanted, c *record.Claim) error {
	st, err := want.Owned.Look(ctx, h.View())
	if unknowable(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", want.Key, err)
	}
	if st.Kind == thing.Absent || w.delivered(want) || w.madeByUs(want, st) {
		w.unsaved = w.unsaved || c.Origin.Kind == ""
		c.Origin = thing.Origin{Kind: thing.OriginAbsent}
		w.fresh[want.Key] = st.Kind == thing.Absent
		return nil
	}
	o := thing.Origin{Kind: thing.OriginSaved, State: &st}
	if o.Backup, err = thing.Save(ctx, h, w.Store.Backups(), want.Owned.Thing, want.Key, st); err != nil {
		return fmt.Errorf("keep the original of %s: %w", want.Key, err)
	}
	c.Origin, w.unsaved = o, true
	return nil
}

// delivered says that a thing is ours though it was there before us.
func (w *walker) delivered(want record.Wanted) bool {
	return want.Owned.Delivered || w.Delivered != nil && w.Delivered(want.Key)
}

// madeByUs says that a directory is there only because the interpreter made it
// for a file below.
func (w *walker) madeByUs(want record.Wanted, st thing.State) bool {
	if st.Kind != thing.Directory {
		return false
	}
	return w.claimOf(dirKey(want.Key)) != nil
}

// dirKey is the key by which the interpreter itself claims the directory at a
// path.
func dirKey(key thing.Key) thing.Key {
	machine, _ := key.Machine()
	return thing.Key("dir:" + key.Name()).On(machine)
}

// unknowable says that a thing cannot be looked at now: its machine is not
// there, no manager runs, or it depends on what has not happened.
func unknowable(err error) bool {
	return errors.Is(err, host.ErrUnknown) || errors.Is(err, host.ErrNoManager) || errors.Is(err, host.ErrNoMachine)
}

// Capture notes in the record, without writing it, what the things are that no
// step had to touch: they may be touched later, and then this is what was there
// before us. What cannot be looked at now is left.
func Capture(ctx context.Context, in Input) error {
	w := newWalker(in)
	for i := range w.Desired {
		p := &w.Desired[i]
		if len(w.wants(p)) == 0 || p.Step == nil {
			continue
		}
		h, err := w.hostOf(ctx, scopeOf(p))
		if unknowable(err) {
			continue
		}
		if err == nil {
			err = w.captureAll(ctx, h, w.wants(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
