package interpreter

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// leftovers are what an installation whose record is gone has left: originals
// that are kept and not in their places, and files that stand as a stored state
// wrote them. A run that died before it wrote its record leaves states and
// originals too, but the host as it was.
func (r *run) leftovers(ctx context.Context) ([]Foreign, error) {
	found, err := r.strayed()
	if err != nil {
		return nil, err
	}
	names, err := r.store.States()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t, err := r.storedTarget(ctx, name)
		if err != nil {
			r.warn(block.Warning{Summary: "Stored state not readable", Detail: err.Error()})
			continue
		}
		left, err := r.written(ctx, t)
		if err != nil {
			return nil, err
		}
		found = append(found, left...)
	}
	slices.SortFunc(found, func(a, b Foreign) int { return cmp.Compare(a.Thing, b.Thing) })
	return slices.CompactFunc(found, func(a, b Foreign) bool { return a.Thing == b.Thing }), nil
}

// strayed lists kept originals in whose places something else stands.
func (r *run) strayed() (found []Foreign, err error) {
	sides, err := r.store.Backups().Sidecars()
	if err != nil {
		return nil, err
	}
	for _, side := range sides {
		if machine, _ := side.Thing.Machine(); machine != "" || side.Thing.Kind() != "path" {
			continue
		}
		st, err := thing.LookPath(r.host.Files, side.Path)
		if err != nil {
			return nil, err
		}
		if !st.SameContent(side.State) {
			found = append(found, Foreign{Thing: side.Thing, Found: st})
		}
	}
	return found, nil
}

// written lists files that are what a stored state wrote, and younger.
func (r *run) written(ctx context.Context, t *target) (found []Foreign, err error) {
	since, err := r.store.StoredAt(t.name)
	if err != nil {
		return nil, err
	}
	for _, want := range record.WantedOf(t.steps) {
		if want.Placed.Machine != "" || want.Key.Kind() != "path" || want.Owned.Want == nil || want.Owned.Want.Kind != thing.File {
			continue
		}
		info, err := host.Lstat(r.host.Files, want.Key.Name())
		if host.Absent(err) || err == nil && info.ModTime().Before(since) {
			continue
		}
		if err != nil {
			return nil, err
		}
		st, err := want.Owned.Look(ctx, r.host.View())
		if errors.Is(err, host.ErrUnknown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if st.SameContent(*want.Owned.Want) {
			found = append(found, Foreign{Thing: want.Key, Found: st})
		}
	}
	return found, nil
}
