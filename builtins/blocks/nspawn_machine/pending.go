package nspawnmachine

import (
	"context"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// restarts says which running slots wait for a restart: their files differ
// now, or were changed since the machine started.
func (s *rootfsStep) restarts(ctx context.Context, in block.Look, p plan) ([]block.Pending, error) {
	var all []block.Pending
	for _, slot := range s.slots {
		found, registered, err := thing.FindMachine(ctx, in.View.Machines, slot)
		if err != nil {
			return nil, err
		}
		if !registered || !found.Alive {
			continue
		}
		why, err := s.outdated(ctx, in, slot, p.files)
		if err != nil {
			return nil, err
		}
		if why != "" {
			all = append(all, block.Pending{Machine: slot, Needs: "machine restart", Reason: why})
		}
	}
	return all, nil
}

func (s *rootfsStep) outdated(ctx context.Context, in block.Look, slot string, files []filePlan) (string, error) {
	u, err := in.View.Units.Unit(ctx, thing.MachineUnit(slot))
	if err != nil {
		return "", err
	}
	clock := in.View.Clock
	started := clock.Now().Add(u.InactiveExit - clock.Monotonic())
	for _, f := range files {
		if f.slot != slot {
			continue
		}
		if f.bytes {
			return f.reason, nil
		}
		info, err := host.Lstat(in.View.Files, f.path)
		if host.Absent(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if info.ModTime().After(started) && !builtFrom(in.Built, slot, f.file) {
			return f.path + " was changed after the machine started", nil
		}
	}
	return "", nil
}

// builtFrom says whether the record knows that the slot was started with this
// file: it was written again since, but as it was.
func builtFrom(b *block.Built, slot string, f file) bool {
	return b != nil && b.Active == slot && b.Parts[f.path] == thing.Digest(f.content)
}

// slotFiles are the digests of a slot's files, by path.
func (m *machine) slotFiles(f host.FileView, slot string) (map[string]string, error) {
	parts := map[string]string{}
	for _, name := range []string{settingsPath(slot), dropInPath(slot)} {
		found, err := thing.LookPath(f, name)
		if err != nil {
			return nil, err
		}
		if found.Kind == thing.File {
			parts[name] = found.Digest
		}
	}
	return parts, nil
}
