package writefileifchanged

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// plan is what stands at the path against what should.
type plan struct {
	name   string // the file itself, links followed where asked for
	found  thing.State
	old    []byte
	access host.Access
	write  bool   // the bytes have to be written
	bytes  []byte // what to write; nil while have is false
	have   bool
}

// Check compares the file with what it should be.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if missing, ok := errors.AsType[*block.NoAccountError](err); ok {
		return block.Unknown(fmt.Sprintf("%s: %v", s.args.Path, missing)), nil
	}
	if err != nil {
		return block.OrUnknown(s.args.Path, err)
	}
	change := s.change(p)
	if change.Needed() {
		if err := writable(ctx, in.View, p.name); err != nil {
			return block.Change{}, err
		}
	}
	return change, nil
}

// plan looks at the host and decides.
func (s *step) plan(ctx context.Context, in block.Look) (plan, error) {
	var p plan
	err := ctx.Err()
	if err == nil {
		p.name, err = thing.Through{Path: thing.Path(s.args.Path), Follow: s.args.Follow}.File(in.View.Files)
	}
	if err == nil && p.name != s.args.Path {
		err = leadsNowhere(in.View.Files, p.name)
	}
	if err == nil {
		p.found, err = thing.LookPath(in.View.Files, p.name)
	}
	if err != nil {
		return p, err
	}
	switch p.found.Kind {
	case thing.Directory:
		return p, errors.New("a directory is there, where the recipe wants a file; remove it, or give another path")
	case thing.Other:
		return p, errors.New("a device, socket or pipe is there, where the recipe wants a file; remove it, or give another path")
	}
	p.access.Mode = s.mode
	if p.access.UID, p.access.GID, err = block.LookupOwner(in.View, text(s.args.Owner), text(s.args.Group)); err != nil {
		return p, err
	}
	if s.args.Merge != nil {
		return s.planMerge(in, p)
	}
	return s.planWhole(in, p)
}

// leadsNowhere refuses a link to a place whose directory is not there: made for
// us, nothing would name it, and nothing would remove it.
func leadsNowhere(f host.FileView, name string) error {
	dir := path.Dir(name)
	if _, err := f.Stat(dir); !host.Absent(err) {
		return err
	}
	return fmt.Errorf("it is a link that leads to %s, and there is no directory %s; make that with a directory step before this one, or leave out follow", name, dir)
}

func (s *step) planWhole(in block.Look, p plan) (plan, error) {
	p.bytes, p.have = s.want.bytes, s.want.known
	if p.found.Kind != thing.File {
		p.write = true
		return p, nil
	}
	same, err := s.want.same(in, p)
	if err != nil || same {
		return p, err
	}
	p.write = true
	p.old, err = thing.ReadAll(in.View.Files, p.name)
	return p, err
}

// same compares the file with the bytes, or with the hash that stands for
// them.
func (w *wanted) same(in block.Look, p plan) (bool, error) {
	if w.known {
		return p.found.Digest == thing.Digest(w.bytes), nil
	}
	if w.hole == nil {
		return false, host.Unknownf("the content is not stored")
	}
	digest := p.found.Digest
	if w.encoded {
		raw, err := thing.ReadAll(in.View.Files, p.name)
		if err != nil {
			return false, err
		}
		digest = thing.Digest([]byte(base64.StdEncoding.EncodeToString(raw)))
	}
	switch {
	case w.hole.Keyed == "":
		return digest == w.hole.Digest, nil
	case in.Keyed == nil:
		return false, host.Unknownf("there is no installation key to compare sensitive content with")
	}
	return in.Keyed(digest) == w.hole.Keyed, nil
}

func (s *step) planMerge(in block.Look, p plan) (plan, error) {
	if s.keys == nil {
		return p, host.Unknownf("the content is not stored")
	}
	var base []byte
	if p.found.Kind == thing.File {
		var err error
		if base, err = thing.ReadAll(in.View.Files, p.name); err != nil {
			return p, err
		}
		p.old = base
		if p.access, err = accessOf(in.View.Files, p.name); err != nil {
			return p, err
		}
	}
	after, changed, err := merge(base, s.keys)
	if err != nil {
		return p, fmt.Errorf("%w; put the file right first, a merge never replaces what it cannot read", err)
	}
	p.bytes, p.have, p.write = after, true, changed || p.found.Kind != thing.File
	return p, nil
}

func accessOf(f host.FileView, name string) (host.Access, error) {
	info, err := host.Lstat(f, name)
	if err != nil {
		return host.Access{}, err
	}
	st := host.StatOf(info)
	return host.Access{Mode: host.ModeBits(info.Mode()), UID: st.UID, GID: st.GID}, nil
}

// change words the plan.
func (s *step) change(p plan) block.Change {
	diff := block.Diff{Thing: string(thing.Path(s.args.Path).Key()), Secret: s.hides(p)}
	change := block.Change{Action: block.ActionUpdate, Bytes: p.write}
	var reasons []string
	switch {
	case p.write && p.found.Kind == thing.Absent:
		change.Action = block.ActionCreate
		reasons = append(reasons, "it is not there")
	case p.write && p.found.Kind == thing.Link:
		change.Action = block.ActionReplace
		diff.Note = "a link to " + p.found.Target + " -> a file"
		reasons = append(reasons, "a link is there")
	case p.write:
		reasons = append(reasons, "content differs")
	}
	if p.write {
		diff.Old, diff.New = p.old, p.bytes
		if p.have && p.bytes == nil {
			diff.New = []byte{}
		}
	}
	reasons = append(reasons, accessDiff(p, &diff)...)
	if len(reasons) == 0 {
		return block.NoChange()
	}
	change.Reason, change.Diffs = strings.Join(reasons, ", "), []block.Diff{diff}
	return change
}

func accessDiff(p plan, diff *block.Diff) (reasons []string) {
	mode, owner := thing.Mode(host.FileMode(p.access.Mode)), fmt.Sprintf("%d:%d", p.access.UID, p.access.GID)
	if p.found.Kind != thing.File {
		diff.NewMode, diff.NewOwner = mode, owner
		return nil
	}
	if p.found.Mode != mode {
		diff.OldMode, diff.NewMode = p.found.Mode, mode
		reasons = append(reasons, "mode differs")
	}
	if old := fmt.Sprintf("%d:%d", p.found.UID, p.found.GID); old != owner {
		diff.OldOwner, diff.NewOwner = old, owner
		reasons = append(reasons, "owner differs")
	}
	return reasons
}

// hides says whether the bytes must not be shown: they are sensitive, or not
// everyone on the host may read them.
func (s *step) hides(p plan) bool {
	if p.found.Kind == thing.File && len(p.found.Mode) == 4 && (p.found.Mode[3]-'0')&4 == 0 {
		return true
	}
	return s.secret || s.want.hole != nil || p.access.Mode&0o004 == 0
}

// writable foresees a write that a read-only mount would refuse, so that it is
// said before earlier steps act.
func writable(ctx context.Context, v host.View, name string) error {
	m, err := v.Storage.Mount(ctx, name)
	if err != nil || !m.ReadOnly {
		return nil // what cannot be foreseen, the write itself tells
	}
	return fmt.Errorf("%s: %w (mounted at %s); choose a path on a writable one", name, syscall.EROFS, m.Point)
}
