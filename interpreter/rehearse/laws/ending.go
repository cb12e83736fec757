package laws

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

// Ending is what counts about a host in the end: files, and claims with their
// origins. What is remembered of the way there is left out.
type Ending struct {
	Phase  string
	files  map[string]memory.Entry
	claims []string
	things []string
}

// End looks at the host.
func (r *Rig) End() (e Ending, err error) {
	e.files = r.Snapshot(r.fleeting()...)
	rec, err := r.Store().Load(context.Background())
	if errors.Is(err, record.ErrAbsent) {
		e.Phase = "absent"
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Phase = string(rec.Phase)
	for _, c := range rec.Claims {
		if !record.HoldsRecord(c.Thing) {
			e.things = append(e.things, "claim "+string(c.Thing))
			e.claims = append(e.claims, fmt.Sprintf("claim %s %s %s %v", c.Thing, c.Origin.Kind, c.Origin.Backup, c.Origin.State))
		}
	}
	for _, name := range []string{rec.Applied, rec.Target} {
		if _, err := r.Store().LoadState(context.Background(), name); err != nil {
			e.claims = append(e.claims, "state "+err.Error())
		}
	}
	return e, nil
}

// fleeting is what a boot or a run may leave behind: the run directories of the
// host and of its machines, and how the record came about.
func (r *Rig) fleeting() []string {
	all := []string{"/run", "/proc", "/sys", "/dev", record.Dir}
	names, err := host.Names(r.Host().Files, host.MachinesDir)
	if err != nil {
		return all
	}
	for _, name := range names {
		all = append(all, host.MachineRoot(name)+"/run")
	}
	return all
}

// Differs lists in what a host differs from what is wanted.
func (e Ending) Differs(want Ending) []string {
	return append(e.looks(want), lacking(e.claims, want.claims)...)
}

// DiffersFresh is Differs where what was there before us may differ.
func (e Ending) DiffersFresh(want Ending) []string {
	return append(e.looks(want), lacking(e.things, want.things)...)
}

func (e Ending) looks(want Ending) (list []string) {
	if e.Phase != want.Phase {
		list = append(list, "phase "+e.Phase+", want "+want.Phase)
	}
	return append(list, memory.Difference(want.files, e.files)...)
}

// lacking lists what one has and the other has not.
func lacking(got, want []string) (list []string) {
	for _, c := range got {
		if !slices.Contains(want, c) {
			list = append(list, c)
		}
	}
	for _, c := range want {
		if !slices.Contains(got, c) {
			list = append(list, "no "+c)
		}
	}
	return list
}
