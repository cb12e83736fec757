package nspawnmachine

import (
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// keepCache is how much of the downloads stays for the next time, in bytes.
const keepCache = 8 << 30

// build unpacks the image. A tree that turns out to be no machine's loses its
// mark again, so that another image can take its place.
func (s *rootfsStep) build(ctx context.Context, do block.Do, p treePlan) error {
	if p.stale {
		if err := thing.ClearStale(ctx, do.Host, s.active); err != nil {
			return err
		}
	}
	if s.platform.Architecture == "" {
		return errors.New("the host's architecture is not known; write platform in rootfs")
	}
	image, err := s.resolve(ctx, do)
	if err == nil {
		err = s.unpack(ctx, do, image)
	}
	if err != nil && rootfs.Passing(err) {
		return &block.PassingError{Class: block.FaultNetwork, Err: err}
	}
	if err != nil {
		return err
	}
	if _, shadow := do.Host.Files.(host.Unknowable); shadow {
		return nil
	}
	if err := s.inspect(ctx, do.Host.View(), true); err != nil {
		return errors.Join(err, rootfs.Unmark(do.Host.Files, s.root()))
	}
	return nil
}

func (s *rootfsStep) resolve(ctx context.Context, do block.Do) (rootfs.Image, error) {
	_, shadow := do.Host.Files.(host.Unknowable)
	if shadow && !rootfs.IsLocal(s.image) {
		return rootfs.Unresolved(s.image, s.sha256, s.platform), nil
	}
	return rootfs.Resolve(ctx, s.source(do), s.platform)
}

func (s *rootfsStep) source(do block.Do) rootfs.Source {
	src := rootfs.Source{Image: s.image, SHA256: s.sha256, Files: do.View.Files}
	if rootfs.IsLocal(s.image) {
		return src
	}
	src.CA = s.ca
	src.Store = rootfs.NewStore(do.OuterHost.Files, do.Cache).Shared(do.Turns)
	src.Transport, src.Clock = do.Host.Network.Transport(), do.Host.Clock
	src.Keys = rootfs.Keys(do.View.Files, rootfs.DefaultKeys()...)
	src.Progress = report(do)
	src.Again = func(f rootfs.Failed) {
		do.Warn(block.Warning{Summary: "Passing fault", Detail: fmt.Sprintf("image %s: %s", rootfs.Redact(s.image), f)})
	}
	return src
}

// Ahead fetches an image that is going to be unpacked.
func (s *rootfsStep) Ahead(ctx context.Context, in block.Do) (func(context.Context) error, error) {
	if rootfs.IsLocal(s.image) || s.platform.Architecture == "" {
		return nil, nil
	}
	p, err := s.planTree(ctx, in.View)
	if err != nil || p.action == block.ActionNone {
		return nil, err
	}
	source := s.source(in)
	source.Progress, source.Again = nil, nil // the step is not at work yet
	return func(ctx context.Context) error {
		image, err := rootfs.Resolve(ctx, source, s.platform)
		if err == nil {
			err = rootfs.Prefetch(ctx, image)
		}
		return err
	}, nil
}

func report(do block.Do) func(rootfs.Progress) {
	return func(p rootfs.Progress) {
		do.Progress(block.Progress{What: p.What, Name: p.Name, Done: p.Done, Total: p.Total})
	}
}

func (s *rootfsStep) unpack(ctx context.Context, do block.Do, image rootfs.Image) error {
	result, err := rootfs.Unpack(ctx, image, do.Host, s.root(), rootfs.Options{Progress: report(do)})
	for _, w := range result.Warnings {
		do.Warn(block.Warning{Summary: "Left out of machine " + s.active, Detail: w})
	}
	if err != nil || rootfs.IsLocal(s.image) {
		return err
	}
	if err := rootfs.NewStore(do.OuterHost.Files, do.Cache).Trim(keepCache); err != nil {
		do.Warn(block.Warning{Summary: "The download cache could not be trimmed", Detail: err.Error()})
	}
	return nil
}

// linkPlan is what changes in the links that enable a slot's unit.
type linkPlan struct {
	key  thing.Key
	slot string
	note string
	ops  []unitfile.LinkOp
}

// planLinks enables the active slot and disables the others. The drop-in is
// taken as it is going to be: it says that the machine starts at boot.
func (m *machine) planLinks(f host.FileView, files []file) ([]linkPlan, error) {
	after := unitfile.Tree{Files: f, Pending: map[string][]byte{}}
	for _, one := range files {
		if one.path == dropInPath(one.slot) {
			after.Pending[one.path] = one.content
		}
	}
	var all []linkPlan
	for _, slot := range m.slots {
		p := linkPlan{key: enabled(slot).Key(), slot: slot, note: thing.MachineUnit(slot) + " is not enabled"}
		var err error
		if slot == m.active {
			p.ops, err = enableOps(after, thing.MachineUnit(slot))
		} else {
			p.note = thing.MachineUnit(slot) + " is enabled, but not the active slot"
			p.ops, err = disableOps(after, thing.MachineUnit(slot))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func enableOps(t unitfile.Tree, unit string) ([]unitfile.LinkOp, error) {
	ops, err := t.Enable(unit)
	if errors.Is(err, unitfile.ErrNoUnit) {
		return nil, host.Unknownf("there is no systemd-nspawn@.service yet: the package systemd-container brings it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", unit, err)
	}
	return ops, nil
}

func disableOps(t unitfile.Tree, unit string) ([]unitfile.LinkOp, error) {
	links, err := t.EnabledLinks(unit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", unit, err)
	}
	return t.Changes(links, nil), nil
}

func (p linkPlan) apply(f host.Files) error {
	if err := unitfile.Carry(f, p.ops); err != nil {
		return fmt.Errorf("enablement of %s: %w", thing.MachineUnit(p.slot), err)
	}
	return nil
}
