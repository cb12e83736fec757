package systemdunit

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// file is a unit file or drop-in that the step writes.
type file struct {
	path   string
	mode   uint32
	known  bool // bytes are there
	bytes  []byte
	hole   *block.Hole
	secret bool
}

// take finds the files and their bytes.
func (s *step) take(args block.Args) (diags hcl.Diagnostics) {
	a := s.args
	if a.Content != nil || a.Source != nil || hasHole(args, "content") {
		s.own = true
		f, more := newFile(args, "", given{a.Content, a.Source, a.Mode})
		f.path = unitfile.EtcDir + "/" + s.name
		s.files, diags = append(s.files, f), append(diags, more...)
		if f.known && len(f.bytes) == 0 && !more.HasErrors() {
			diags = append(diags, args.Fault(origin(args, ""), "Empty unit file", "An empty unit file is a mask: systemd would refuse to start the unit. Write its content, or mask = true instead."))
		}
	}
	seen := map[string]bool{}
	for i, d := range a.DropIns {
		at := fmt.Sprintf("drop_in[%d].", i)
		if err := dropInName(d.Name); err != nil {
			diags = append(diags, args.Fault(at+"name", "Invalid drop-in name", err.Error()))
			continue
		}
		if seen[d.Name] {
			diags = append(diags, args.Fault(at+"name", "Drop-in given twice", fmt.Sprintf("%q is given twice; put its lines together.", d.Name)))
		}
		seen[d.Name] = true
		f, more := newFile(args, at, given{d.Content, d.Source, d.Mode})
		f.path = unitfile.EtcDir + "/" + s.name + ".d/" + d.Name
		s.files, diags = append(s.files, f), append(diags, more...)
	}
	return diags
}

func hasHole(args block.Args, name string) bool {
	_, ok := args.Holes[name]
	return ok
}

// origin is the attribute that the bytes come from.
func origin(args block.Args, at string) string {
	if _, ok := args.Ranges[at+"source"]; ok {
		return at + "source"
	}
	return at + "content"
}

// given is where a file's bytes come from, and its mode.
type given struct {
	content, source *string
	mode            string
}

func newFile(args block.Args, at string, g given) (f file, diags hcl.Diagnostics) {
	var err error
	if f.mode, err = block.ParseMode(g.mode); err != nil {
		diags = append(diags, args.Fault(at+"mode", "Invalid mode", err.Error()))
	}
	f.secret = args.Secret[at+"content"]
	hole, isHole := args.Holes[at+"content"]
	switch {
	case (g.content != nil || isHole) == (g.source != nil):
		return f, append(diags, args.Fault(at+"content", "Content needed once", "Write exactly one of content and source."))
	case isHole:
		f.hole = &hole
		return f, diags
	case g.content != nil:
		f.bytes, f.known = []byte(*g.content), true
	case args.Assets == nil:
		return f, diags // made from a claim, to be undone only
	default:
		f.bytes, err = args.Assets.ReadFile(*g.source)
		f.known = err == nil
		if err != nil && args.Ranges != nil {
			return f, append(diags, args.Fault(at+"source", "Content cannot be read", sentence(err.Error())))
		}
	}
	return f, append(diags, f.readable(args, at)...)
}

// readable refuses text that systemd would not load at all.
func (f file) readable(args block.Args, at string) (diags hcl.Diagnostics) {
	_, faults := unitfile.Parse("", f.bytes)
	for _, fault := range faults {
		if !fault.Fatal {
			continue
		}
		detail := fmt.Sprintf("Line %d: %s", fault.Range.Start.Line, fault.Detail)
		if f.secret {
			detail = fmt.Sprintf("Line %d of the text is wrong, and systemd refuses the file.", fault.Range.Start.Line)
		}
		diags = append(diags, args.Fault(origin(args, at), fault.Summary, detail))
	}
	return diags
}

// complete says whether the bytes of all files are there.
func (s *step) complete() bool {
	for _, f := range s.files {
		if !f.known {
			return false
		}
	}
	return true
}

// after is the unit files as they will be once the step's are written. Those
// whose bytes are not there are taken as they are on the host.
func (s *step) after(f host.FileView) unitfile.Tree {
	t := unitfile.Tree{Files: f, Pending: map[string][]byte{}}
	for _, want := range s.files {
		if want.known {
			t.Pending[want.path] = append([]byte{}, want.bytes...)
		}
	}
	return t
}

// digest is what is known of the bytes' digest: keyed for a sensitive hole, ""
// when nothing is.
func (f file) digest() string {
	switch {
	case f.known:
		return thing.Digest(f.bytes)
	case f.hole == nil:
		return ""
	case f.hole.Keyed != "":
		return f.hole.Keyed
	}
	return f.hole.Digest
}

// want is the state of the file, nil when its bytes are not known at all.
func (f file) want() *thing.State {
	digest := f.digest()
	if digest == "" {
		return nil
	}
	state := &thing.State{Kind: thing.File, Digest: digest, Size: int64(len(f.bytes)), Mode: thing.Mode(host.FileMode(f.mode))}
	if f.hole != nil {
		state.Size = f.hole.Size
	}
	return state
}

// same says whether the bytes found are those wanted.
func (f file) same(in block.Look, found thing.State) (bool, error) {
	switch {
	case found.Kind != thing.File:
		return false, nil
	case f.known:
		return found.Digest == thing.Digest(f.bytes), nil
	case f.hole == nil:
		return false, host.Unknownf("the content of %s is not stored", f.path)
	case f.hole.Keyed == "":
		return found.Digest == f.hole.Digest, nil
	case in.Keyed == nil:
		return false, host.Unknownf("there is no installation key to compare sensitive content with")
	}
	return in.Keyed(found.Digest) == f.hole.Keyed, nil
}

// Owns names the files, the state and the enablement, in this order: reset goes
// backwards, and a unit can be started again only when its mask is gone.
func (s *step) Owns() []thing.Owned {
	var owned []thing.Owned
	for _, f := range s.files {
		owned = append(owned, thing.Owned{Thing: thing.Path(f.path), Want: f.want(), Sensitive: f.secret})
	}
	if s.args.State != nil {
		owned = append(owned, thing.Owned{Thing: thing.UnitActive(s.name), Want: s.wantActive(), Foreign: true})
	}
	if s.args.Enable != nil || s.args.Mask != nil {
		owned = append(owned, thing.Owned{Thing: s.enabled(), Want: s.wantEnabled(), Foreign: true})
	}
	return owned
}

// enabled is the enablement as a thing, with what the recipe's content names
// in Also=.
func (s *step) enabled() thing.UnitEnabled {
	u := thing.UnitEnabled{Unit: s.name}
	if family, err := s.after(nil).Family(s.name); err == nil && len(family) > 1 {
		u.With = family[1:]
	}
	return u
}

// wantEnabled is the enablement as far as no host is needed to know it.
func (s *step) wantEnabled() *thing.State {
	switch {
	case is(s.args.Enable, false) && s.masks():
		state := thing.LinksState(nil, unitfile.Links{unitfile.MaskPath(s.name): unitfile.MaskTarget})
		return &state
	case is(s.args.Enable, false):
		state := thing.LinksState(nil, nil)
		return &state
	case s.enables() && s.own && s.complete():
		if links, err := s.after(nil).Wanted(s.name); err == nil {
			state := thing.LinksState(links, nil)
			return &state
		}
	}
	return nil
}

func (s *step) wantActive() *thing.State {
	switch {
	case s.stops():
		return &thing.State{Kind: thing.Absent, Value: thing.Inactive}
	case len(s.args.StartUnless) == 0:
		return &thing.State{Kind: thing.Present, Value: thing.Active}
	}
	return nil
}
