package lint

import (
	"path"
	"slices"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/unitfile"
)

// Unit is a systemd unit as the recipe writes it.
type Unit struct {
	Step *eval.Inspected
	// Text is the unit's name, "" when it is not known; Name is the same taken
	// apart, zero when it is no valid name.
	Text string
	Name unitfile.Name
	// Own says that the recipe has the unit file itself, and not only drop-ins.
	Own bool
	// Open says that lines of it are not known, so that what seems to be
	// missing may be there.
	Open bool
	// Parts are the unit file, if Own, and its drop-ins.
	Parts []*UnitPart

	lines    []Line
	commands []Command
	split    bool
}

// UnitPart is a unit file or a drop-in.
type UnitPart struct {
	// DropIn is its name, "" for the unit file.
	DropIn string
	Text   Text
	File   *unitfile.File
	Faults []unitfile.Fault
}

// Units are the units of the recipe: systemd_unit steps, and unit files that
// other steps write.
func (p *Pass) Units() []*Unit {
	if p.units != nil {
		return p.units
	}
	p.units = []*Unit{}
	for _, s := range p.Steps("systemd_unit") {
		p.units = append(p.units, p.unit(s))
	}
	for _, w := range p.Written() {
		if w.Step.Type.Name == "write_file_if_changed" && inUnitDir(w.Path) {
			if t, ok := w.Text(); ok {
				u := &Unit{Step: w.Step, Own: true}
				u.named(path.Base(w.Path))
				u.add("", t)
				p.units = append(p.units, u)
			}
		}
	}
	return p.units
}

func inUnitDir(name string) bool {
	return (path.Dir(name) == unitfile.EtcDir || path.Dir(name) == "/usr/local/lib/systemd/system") && unitfile.IsType(strings.TrimPrefix(path.Ext(name), "."))
}

func (p *Pass) unit(s *eval.Inspected) *Unit {
	u := &Unit{Step: s}
	name := s.Arg("name")
	if !name.Written() {
		u.named(s.Label)
	} else if text, ok := name.Text(); ok {
		u.named(text)
	}
	if t, ok := p.content(s.Arguments); ok {
		u.Own = true
		u.add("", t)
	} else if s.Arg("content").Written() || s.Arg("source").Written() {
		u.Own, u.Open = true, true
	}
	for _, b := range s.Blocks("drop_in") {
		if t, ok := p.content(b); ok && len(b.Block.Labels) > 0 {
			u.add(b.Block.Labels[0], t)
		}
	}
	return u
}

// content is the text of content or source.
func (p *Pass) content(a *eval.Arguments) (Text, bool) {
	if a.Arg("source").Written() {
		return p.TextOf(a, "source")
	}
	return p.TextOf(a, "content")
}

func (u *Unit) named(name string) {
	u.Text = name
	if n, err := unitfile.ParseName(name); err == nil {
		u.Name = n
	}
}

func (u *Unit) add(dropIn string, t Text) {
	part := &UnitPart{DropIn: dropIn, Text: t}
	part.File, part.Faults = unitfile.Parse(u.Text, []byte(t.Text))
	part.Faults = slices.DeleteFunc(part.Faults, func(f unitfile.Fault) bool {
		return Holes(t.Text[f.Range.Start.Byte:f.Range.End.Byte])
	})
	u.Open = u.Open || openLines(t.Text)
	u.Parts = append(u.Parts, part)
}

// openLines says whether a hole stands where lines may begin: not after an
// equals sign.
func openLines(text string) bool {
	if !Holes(text) {
		return false
	}
	for line := range strings.Lines(text) {
		before, _, hole := strings.Cut(line, string(Hole))
		if hole && !strings.Contains(before, "=") {
			return true
		}
	}
	return false
}
