package record

import (
	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

// Retarget makes the claims those of a new target: things it owns keep the
// origin and contents they are claimed with, whatever step they belonged to
// before. Things that it does not own stay claimed, behind it, until they are
// undone; they are returned in the order in which they were claimed. keyed
// hashes digests of sensitive contents.
func (r *Record) Retarget(steps []block.Placed, keyed func(string) string) (dropped []thing.Key, err error) {
	old := r.Index()
	next := make([]Claim, 0, len(r.Claims))
	done := make(map[thing.Key]bool, len(r.Claims))
	var slim slimmer
	for _, w := range WantedOf(steps) {
		if done[w.Key] {
			continue // two steps that do the same on a reset
		}
		done[w.Key] = true
		c := Claim{Thing: w.Key}
		if known := old[w.Key]; known != nil {
			c = *known
			r.moveMachine(known, w)
		}
		if c.Step, err = slim.step(w.Placed); err != nil {
			return nil, err
		}
		c.Wrote = wrote(c.Wrote, w.Owned, keyed)
		next = append(next, c)
		delete(old, w.Key)
	}
	kept, dropped := r.unwanted(old, next)
	behind := r.Claims
	r.Claims = append(kept, next...)
	for _, c := range behind {
		if old[c.Thing] != nil {
			r.Claims = append(r.Claims, c)
		}
	}
	return dropped, nil
}

// unwanted sorts claims that the target does not own. Directories that the
// interpreter made stay while something is claimed below; so do those that a
// step made, as the interpreter's own. The rest is dropped, in order.
func (r *Record) unwanted(old map[thing.Key]*Claim, next []Claim) (kept []Claim, dropped []thing.Key) {
	holding, claimed := above(next), r.Index()
	for _, c := range r.Claims {
		machine, _ := c.Thing.Machine()
		dir := thing.Key("dir:" + c.Thing.Name()).On(machine)
		switch {
		case old[c.Thing] == nil:
		case c.Thing == dir && (HoldsRecord(dir) || holding[dir]):
			kept = append(kept, c)
			delete(old, c.Thing)
		case c.madeDir() && holding[dir]:
			if claimed[dir] == nil {
				kept = append(kept, Claim{Thing: dir, Origin: c.Origin})
			}
			delete(old, c.Thing)
		default:
			dropped = append(dropped, c.Thing)
		}
	}
	return kept, dropped
}

// madeDir says whether a step made this directory.
func (c Claim) madeDir() bool {
	return c.Thing.Kind() == "path" && c.Origin.Kind == thing.OriginAbsent && len(c.Wrote) > 0 && c.Wrote[0] == Content(thing.State{Kind: thing.Directory})
}

// above are the directories above all claimed paths, as the interpreter claims
// them.
func above(claims []Claim) map[thing.Key]bool {
	dirs := map[thing.Key]bool{}
	for _, c := range claims {
		machine, _ := c.Thing.Machine()
		for _, dir := range ParentsOf(c.Thing) {
			dirs[thing.Key("dir:"+dir).On(machine)] = true
		}
	}
	return dirs
}

// moveMachine takes along what is known of a machine whose step has another
// address now.
func (r *Record) moveMachine(known *Claim, w Wanted) {
	if w.Placed.Machine != "" || w.Key.Kind() != "machine" || known.Step == nil || known.Step.Address == w.Placed.Address {
		return
	}
	built, ok := r.Machines[known.Step.Address]
	if _, taken := r.Machines[w.Placed.Address]; ok && !taken {
		delete(r.Machines, known.Step.Address)
		r.Machines[w.Placed.Address] = built
	}
}

// slimmer makes placed steps what claims store; the things of one step share
// it.
type slimmer struct {
	last   *block.Placed
	stored *block.Stored
}

func (s *slimmer) step(p *block.Placed) (*block.Stored, error) {
	if s.last == p {
		return s.stored, nil
	}
	stored := block.Store(*p)
	stored.Description, stored.Stage = "", ""
	data, err := block.Slim(p.Type.Schema, stored.Data)
	if err != nil {
		return nil, err
	}
	stored.Data = data
	s.last, s.stored = p, &stored
	return s.stored, nil
}
