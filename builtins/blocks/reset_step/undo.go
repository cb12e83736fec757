package resetstep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Check needs nothing: the step does nothing on apply.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	return block.NoChange(), ctx.Err()
}

// Apply does nothing.
func (s *step) Apply(ctx context.Context, do block.Do) error { return ctx.Err() }

// Reset does nothing by itself: Undo does all actions at their place.
func (s *step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return ctx.Err()
}

// Undo does the actions in the order they are written.
func (s *step) Undo(ctx context.Context, do block.Do) error {
	for _, o := range s.actions {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s %s: %w", o.kind, o.residue().Name, err)
		}
		if err := o.do(ctx, do.Host); err != nil {
			return fmt.Errorf("%s %s: %w", o.kind, o.residue().Name, err)
		}
	}
	return nil
}

func (o options) do(ctx context.Context, h host.Host) error {
	switch o.kind {
	case "disable_unit":
		return o.disable(ctx, h)
	case "remove_path":
		return o.remove(ctx, h)
	}
	if !h.Identity.Live {
		return nil // what only a running host has is not there
	}
	switch o.kind {
	case "stop_unit":
		return stop(ctx, h, o.name)
	case "unmount":
		return o.unmount(ctx, h)
	case "delete_link":
		return o.deleteLinks(ctx, h)
	case "flush_routes":
		return o.flush(ctx, h)
	case "delete_rules":
		return o.deleteRules(ctx, h)
	case "delete_nft_table":
		return o.deleteTable(ctx, h)
	}
	_, err := o.run(ctx, h, o.argv)
	return err
}

func stop(ctx context.Context, h host.Host, unit string) error {
	u, err := h.Units.Unit(ctx, unit)
	if errors.Is(err, host.ErrNoManager) {
		return nil
	}
	if err != nil || u.LoadState == "not-found" && !u.Running() {
		return err
	}
	if err := h.Units.Run(ctx, host.JobStop, unit); err != nil && !errors.Is(err, host.ErrNoUnit) {
		return err
	}
	return nil
}

func (o options) disable(ctx context.Context, h host.Host) error {
	links, err := thing.EnablingLinks(h.Files, o.name)
	if err != nil || len(links) == 0 {
		return err
	}
	for _, link := range links {
		if err := host.Remove(h.Files, link); err != nil {
			return err
		}
	}
	if err := h.Units.Reload(ctx); err != nil && !errors.Is(err, host.ErrNoManager) {
		return err
	}
	return nil
}

func (o options) remove(ctx context.Context, h host.Host) error {
	if o.recursive {
		return thing.RemoveTree(ctx, h, o.path)
	}
	info, err := host.Lstat(h.Files, o.path)
	if host.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		names, err := host.Names(h.Files, o.path)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			slices.Sort(names)
			return fmt.Errorf("the directory is not empty, it holds %s; write recursive = true to remove it with everything in it",
				strings.Join(names[:min(3, len(names))], ", "))
		}
	}
	return host.Remove(h.Files, o.path)
}

func (o options) unmount(ctx context.Context, h host.Host) error {
	found, err := o.residue().Look(ctx, h.View())
	if err != nil || found.Kind == thing.Absent {
		return err
	}
	err = h.Kernel.Unmount(ctx, o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (o options) deleteLinks(ctx context.Context, h host.Host) error {
	if !o.ranged {
		if err := o.refuseOtherKind(ctx, h); err != nil {
			return err
		}
	}
	links, err := o.residue().Links(ctx, h.View())
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := h.Network.DeleteLink(ctx, l.Name); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
	}
	return nil
}

func (o options) refuseOtherKind(ctx context.Context, h host.Host) error {
	all, err := h.Network.Links(ctx)
	for _, l := range all {
		if l.Name == o.name && l.Kind != o.linkKind {
			return fmt.Errorf("the link is of kind %q and not %q: it is not ours and stays", l.Kind, o.linkKind)
		}
	}
	return err
}

func (o options) flush(ctx context.Context, h host.Host) error {
	tables, err := o.residue().Tables(ctx, h.View())
	for _, t := range tables {
		if err := h.Network.FlushTable(ctx, t); err != nil {
			return fmt.Errorf("table %d (%s): %w", t.Table, t.Family, err)
		}
	}
	return err
}

func (o options) deleteRules(ctx context.Context, h host.Host) error {
	rules, err := o.residue().Rules(ctx, h.View())
	for _, r := range rules {
		if err := h.Network.DeleteRule(ctx, r); err != nil {
			return fmt.Errorf("rule %d for table %d (%s): %w", r.Priority, r.Table, r.Family, err)
		}
	}
	return err
}

// deleteTable asks first which tables there are, because the exit code of nft
// does not tell a missing table from a failure.
func (o options) deleteTable(ctx context.Context, h host.Host) error {
	there, err := o.hasTable(ctx, h)
	if err != nil || !there {
		return err
	}
	if _, err := o.run(ctx, h, []string{"nft", "delete", "table", o.family, o.name}); err != nil {
		return err
	}
	if there, err = o.hasTable(ctx, h); err == nil && there {
		return errors.New("the table is still there after it was deleted")
	}
	return err
}

func (o options) hasTable(ctx context.Context, h host.Host) (bool, error) {
	out, err := o.run(ctx, h, []string{"nft", "list", "tables"})
	for _, line := range strings.Split(string(out), "\n") {
		if slices.Equal(strings.Fields(line), []string{"table", o.family, o.name}) {
			return true, err
		}
	}
	return false, err
}

// run runs a program. One that is not installed, or ends with a tolerated exit
// code, is a success without output.
func (o options) run(ctx context.Context, h host.Host, argv []string) ([]byte, error) {
	res, err := h.Commands.Run(ctx, host.Command{Argv: argv})
	if errors.Is(err, host.ErrNoTool) {
		if o.missingTool == "absent" {
			return nil, nil
		}
		return nil, fmt.Errorf("%w; missing_tool = \"absent\" takes that for proof that there is nothing to remove", err)
	}
	if failed, ok := errors.AsType[*host.ExitError](err); ok && failed.Result.Signal == "" && slices.Contains(o.tolerate, failed.Result.ExitCode) {
		return res.Stdout, nil
	}
	return res.Stdout, err
}
