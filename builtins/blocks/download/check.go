package download

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// plan is what stands at the paths against what should.
type plan struct {
	known  resolution // what the download was resolved to
	solved bool       // known holds the digest of every file
	files  []filePlan
}

type filePlan struct {
	path   string
	found  thing.State
	digest string // wanted, "" while it is not known
	mode   string
}

func (p filePlan) writes() bool {
	return p.digest == "" || p.found.Kind != thing.File || p.found.Digest != p.digest
}

func (p filePlan) access() bool {
	return p.found.Mode != p.mode || p.found.UID != 0 || p.found.GID != 0
}

func (p plan) writes() bool {
	for _, f := range p.files {
		if f.writes() {
			return true
		}
	}
	return false
}

func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (s *step) plan(ctx context.Context, in block.Look) (p plan, err error) {
	if err := ctx.Err(); err != nil {
		return p, named(s.paths[0], err)
	}
	if p.known, p.solved, err = s.recall(in); err != nil {
		return p, named(s.paths[0], err)
	}
	for _, path := range s.paths {
		f := filePlan{path: path, mode: thing.Mode(host.FileMode(s.mode))}
		if f.found, err = thing.LookPath(in.View.Files, path); err != nil {
			return p, named(path, err)
		}
		if f.found.Kind == thing.Directory || f.found.Kind == thing.Other {
			return p, fmt.Errorf("%s: a %s is there, where the recipe wants a file; remove it, or give another path", path, f.found.Kind)
		}
		if p.solved {
			f.digest = p.known.Files[path]
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

// Check compares the files with what was downloaded.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if err != nil {
		return block.OrUnknown("download", err)
	}
	if why := s.waits(in, p); why != "" {
		return block.Change{Action: block.ActionNone, Deferred: []string{why}}, nil
	}
	var parts []block.Change
	for _, f := range p.files {
		change, err := s.change(ctx, in.View, f)
		if err != nil {
			return block.Change{}, err
		}
		parts = append(parts, change)
	}
	return block.Together(parts...), nil
}

// waits says why nothing can be fetched now: the host does not run and the
// bytes are not in the cache.
func (s *step) waits(in block.Look, p plan) string {
	if in.Outer.Identity.Live || !p.writes() {
		return ""
	}
	if blob := p.known.Blob; blob != "" && in.Cache != "" {
		if there, err := rootfs.HasBlob(in.Outer.Files, in.Cache, blob); err == nil && there {
			return ""
		}
	}
	return strings.Join(s.paths, ", ") + " is downloaded by the first run on the running host"
}

func (s *step) change(ctx context.Context, v host.View, f filePlan) (block.Change, error) {
	diff := block.Diff{Thing: string(thing.Path(f.path).Key())}
	c := block.Change{Action: block.ActionUpdate, Bytes: true}
	switch {
	case f.found.Kind == thing.Absent:
		c.Action, c.Reason, diff.Note = block.ActionCreate, f.path+" is not there", "from "+s.name()
	case f.digest == "":
		return block.Unknown(fmt.Sprintf("whether %s is what %s holds is known once it was downloaded", f.path, s.name())), nil
	case f.found.Kind == thing.Link:
		c.Action, c.Reason, diff.Note = block.ActionReplace, "a link is at "+f.path, "a link to "+f.found.Target+" -> a file"
	case f.writes():
		c.Reason, diff.Note = "the digest of "+f.path+" differs", f.found.Digest+" -> "+f.digest
	case f.access():
		c.Bytes, c.Reason = false, "mode or owner of "+f.path+" differs"
	default:
		return block.NoChange(), nil
	}
	if f.found.Mode != f.mode {
		diff.OldMode, diff.NewMode = f.found.Mode, f.mode
	}
	c.Diffs = []block.Diff{diff}
	if m, err := v.Storage.Mount(ctx, f.path); err == nil && m.ReadOnly {
		return block.Change{}, fmt.Errorf("%s: %w (mounted at %s); choose a path on a writable one", f.path, syscall.EROFS, m.Point)
	}
	return c, nil
}
