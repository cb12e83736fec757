package nspawnmachine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"syscall"

	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// tree is a machine as a thing that is owned: its tree with the completion
// mark, and what is registered under its name.
type tree struct{ slot string }

// Key is "machine:" and the name.
func (t tree) Key() thing.Key { return thing.Key("machine:" + t.slot) }

// Look says whether there is anything of the machine. Digest is what its tree
// was unpacked from, "" while it is not complete.
func (t tree) Look(ctx context.Context, v host.View) (thing.State, error) {
	digest, complete, err := rootfs.Complete(v.Files, t.slot)
	if err != nil {
		return thing.State{}, fmt.Errorf("machine %s: %w", t.slot, err)
	}
	if complete {
		return thing.State{Kind: thing.Present, Digest: digest}, nil
	}
	for _, name := range t.paths() {
		_, err := host.Lstat(v.Files, name)
		if err == nil {
			return thing.State{Kind: thing.Present}, nil
		}
		if !host.Absent(err) {
			return thing.State{}, fmt.Errorf("machine %s: %w", t.slot, err)
		}
	}
	_, registered, err := thing.FindMachine(ctx, v.Machines, t.slot)
	if err != nil && !errors.Is(err, host.ErrNoMachined) {
		return thing.State{}, err
	}
	if registered {
		return thing.State{Kind: thing.Present}, nil
	}
	return thing.State{Kind: thing.Absent}, nil
}

// paths are all places where something of the machine can be.
func (t tree) paths() []string {
	root := host.MachineRoot(t.slot)
	return []string{rootfs.MarkPath(root), rootfs.NewPath(root), root}
}

// PutBack stops the machine, waits until it is gone, and removes its tree. A
// machine that was there before us stays.
func (t tree) PutBack(ctx context.Context, h host.Host, o thing.Origin, _ thing.Keeper) error {
	if o.Kind != thing.OriginAbsent {
		return nil
	}
	if err := thing.StopMachine(ctx, h, t.slot); err != nil {
		return err
	}
	if err := t.remove(ctx, h); err != nil {
		return fmt.Errorf("machine %s: %w", t.slot, err)
	}
	return forgetStart(h.Files, t.slot)
}

// lock is the file by which systemd-nspawn takes hold of the tree. A machine
// that was killed, or stopped in the middle of its start, leaves it.
func (t tree) lock() string { return path.Join(host.MachinesDir, ".#"+t.slot+".lck") }

// remove removes the mark first: a tree that is half removed is never taken
// for complete.
func (t tree) remove(ctx context.Context, h host.Host) error {
	root := host.MachineRoot(t.slot)
	if err := rootfs.Unmark(h.Files, root); err != nil {
		return err
	}
	if err := host.Remove(h.Files, host.TemporaryName(rootfs.MarkPath(root))); err != nil {
		return err // of a run that was killed while it wrote the mark
	}
	for _, name := range []string{rootfs.NewPath(root), root} {
		if err := rootfs.RemoveTree(ctx, h, name); err != nil {
			return err
		}
	}
	if err := host.Remove(h.Files, t.lock()); err != nil {
		return err
	}
	err := host.Remove(h.Files, path.Join(host.MachinesDir, rootfs.StateDir))
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil // of other machines
	}
	return err
}

// inspect holds a tree against what systemd-nspawn asks of it. Links inside
// are resolved as in the machine.
func (m *machine) inspect(ctx context.Context, v host.View, fresh bool) error {
	info, err := host.Lstat(v.Files, m.root())
	if err != nil {
		return err
	}
	if st := host.StatOf(info); (st.UID != 0 || st.GID != 0) && (fresh || !m.privateUsers()) {
		return fmt.Errorf("the top of its tree, %s, belongs to %d:%d and not to root: it was shifted to other users, or the image is made so; "+
			"with PrivateUsers = \"no\" the machine could not use it", m.root(), st.UID, st.GID)
	}
	inside, err := v.Machines.View(ctx, m.active)
	if err != nil {
		return err
	}
	for _, name := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		_, err := inside.Files.Stat(name)
		if err == nil {
			return nil
		}
		if !host.Absent(err) && !errors.Is(err, syscall.ELOOP) {
			return err
		}
	}
	return fmt.Errorf("image %s is no root file system of an operating system: in its tree there is neither %s/etc/os-release nor %s/usr/lib/os-release, "+
		"and systemd-nspawn refuses such a tree", rootfs.Redact(m.image), m.root(), m.root())
}
