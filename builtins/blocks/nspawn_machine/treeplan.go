package nspawnmachine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// treePlan is what changes about the tree of the active slot.
type treePlan struct {
	key     thing.Key
	action  block.Action
	reason  string
	stale   bool // a registration is in the way
	pending []block.Pending
	made    string // what a complete tree is from
}

// planTree decides whether the tree is built. That of a registered machine is
// never touched, and a complete one is replaced by a repave only.
func (s *rootfsStep) planTree(ctx context.Context, v host.View) (treePlan, error) {
	p := treePlan{key: tree{s.active}.Key(), action: block.ActionNone}
	found, registered, err := thing.FindMachine(ctx, v.Machines, s.active)
	if err != nil {
		return p, err
	}
	mark, complete, err := rootfs.ReadMark(v.Files, s.root())
	if err != nil {
		return p, err
	}
	switch {
	case complete:
		return s.planComplete(ctx, v, p, mark, registered)
	case registered && found.Alive:
		p.pending = s.repave("it runs from a tree that was not completed by us")
		return p, nil
	}
	p.stale = registered
	_, err = host.Lstat(v.Files, s.root())
	switch {
	case err == nil:
		p.action, p.reason = block.ActionReplace, "its tree is not complete"
	case host.Absent(err):
		p.action, p.reason = block.ActionCreate, "image "+rootfs.Redact(s.image)+" is not unpacked"
	default:
		return p, err
	}
	return p, nil
}

func (s *rootfsStep) planComplete(ctx context.Context, v host.View, p treePlan, mark rootfs.Mark, registered bool) (treePlan, error) {
	p.made = mark.Image
	if !strings.Contains(p.made, mark.Digest) {
		p.made += " (" + mark.Digest + ")"
	}
	if why := s.differs(ctx, v, mark); why != "" {
		p.pending = s.repave(why)
		return p, nil
	}
	if registered {
		return p, nil
	}
	err := s.inspect(ctx, v, false)
	if errors.Is(err, host.ErrUnknown) || errors.Is(err, host.ErrNoMachine) {
		err = nil // on a shadow the tree is not there to be looked at
	}
	return p, err
}

func (m *machine) repave(why string) []block.Pending {
	return []block.Pending{{Machine: m.active, Needs: "repave", Reason: why}}
}

// rebuilds says whether one of the values of rebuild_on is another than what
// the machine was built with.
func (m *machine) rebuilds(in block.Look) []block.Pending {
	want := m.rebuildOn()
	if want == "" || in.Built == nil || in.Built.Active != m.active || in.Built.RebuildOn == want {
		return nil
	}
	return m.repave("a value of rebuild_on is another than what it was built with")
}

// rebuildOn is the digest of the values of rebuild_on, "" if there are none.
func (m *machine) rebuildOn() string {
	if len(m.args.RebuildOn) == 0 {
		return ""
	}
	return thing.Digest(fmt.Appendf(nil, "%q", m.args.RebuildOn))
}

// differs says why a complete tree is not what the recipe wants, "" if it is.
// A local image is looked at; any other is told by its reference, without the
// network.
func (s *rootfsStep) differs(ctx context.Context, v host.View, mark rootfs.Mark) string {
	want := rootfs.Identity(s.image, s.sha256)
	have, err := rootfs.ParsePlatform(mark.Platform)
	if err == nil && s.platform.Architecture != "" && (have.OS != s.platform.OS || have.Architecture != s.platform.Architecture) {
		return fmt.Sprintf("its tree is for %s, the recipe wants %s", mark.Platform, s.platform)
	}
	if want == mark.Identity && s.sha256 != "" || want == mark.Digest {
		return ""
	}
	if rootfs.IsLocal(s.image) {
		image, err := rootfs.Resolve(ctx, rootfs.Source{Image: s.image, SHA256: s.sha256, Files: v.Files}, s.platform)
		if err == nil && image.Digest == mark.Digest {
			return ""
		}
		if err == nil {
			return fmt.Sprintf("its tree is from %s (%s), the recipe wants %s (%s)", mark.Image, mark.Digest, image.Ref, image.Digest)
		}
		// What it was unpacked from need not be there any more.
	}
	if want == mark.Identity {
		return ""
	}
	return fmt.Sprintf("its tree is from %s, the recipe wants %s", mark.Image, rootfs.Redact(s.image))
}
