package record

import (
	"maps"
	"slices"
	"time"

	"hostler/interpreter/block"
)

// Repaving stands in the record while something of a repave may be left: a
// target that has not proved itself, a slot that is not active any more, or
// claims that what is applied does not own.
type Repaving struct {
	// Fingerprint is the identity that a target which is not applied yet brings.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Machines is what its machines were built from, by step address; it goes
	// into Record.Machines when the target is applied.
	Machines map[string]block.Built `json:"machines,omitempty"`
	// Until is when a target that proved itself goes back, unless it is
	// confirmed before; zero when nothing waits.
	Until time.Time `json:"confirm_until,omitzero"`
	// Rebuild names machines without a second slot whose trees are to be taken
	// away before the target is driven to.
	Rebuild []string `json:"rebuild,omitempty"`
}

// Unproved says whether a repave has a target that is not applied: it goes back
// unless it waits for its confirmation.
func (r *Record) Unproved() bool {
	return r.Repave != nil && r.Phase == Complete && r.Target != r.Applied
}

// Trial says whether a repave waits for its confirmation at that time.
func (r *Record) Trial(now time.Time) bool {
	return r.Unproved() && now.Before(r.Repave.Until)
}

// Prove makes the target of a repave what is applied: with it go the identity,
// the recipe and the active slots.
func (r *Record) Prove(recipe Recipe, fingerprint string) {
	r.Supersede(fingerprint)
	r.Recipe, r.Previous, r.Applied = recipe, r.Applied, r.Target
	if r.Machines == nil {
		r.Machines = map[string]block.Built{}
	}
	maps.Copy(r.Machines, r.Repave.Machines)
	r.Repave = &Repaving{}
}

// Supersede moves the identity. The one before is remembered: who still gives it
// is told so, and not refused.
func (r *Record) Supersede(fingerprint string) {
	if fingerprint == r.Fingerprint {
		return
	}
	r.Superseded = slices.DeleteFunc(r.Superseded, func(s string) bool { return s == fingerprint || s == r.Fingerprint })
	r.Superseded, r.Fingerprint = append(r.Superseded, r.Fingerprint), fingerprint
}
