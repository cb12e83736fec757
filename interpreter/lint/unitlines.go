package lint

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/unitfile"
)

// Line is one directive at its place.
type Line struct {
	*unitfile.Directive
	Part    *UnitPart
	Section string
}

// Range is where a part of the unit text is written.
func (p *UnitPart) Range(r unitfile.Range) hcl.Range { return p.Text.Range(r.Start.Byte, r.End.Byte) }

// KeyRange is where the line's key is written.
func (l Line) KeyRange() hcl.Range { return l.Part.Range(l.Directive.KeyRange) }

// ValueRange is where the line's value is written; its key when it has none.
func (l Line) ValueRange() hcl.Range {
	r := l.Directive.ValueRange
	if r.Start == r.End {
		return l.KeyRange()
	}
	return l.Part.Range(r)
}

// Find is where the first occurrence of a word in the value is written; that
// of the value when it does not stand there as it is.
func (l Line) Find(word string) hcl.Range {
	from, to := l.Directive.ValueRange.Start.Byte, l.Directive.ValueRange.End.Byte
	if i := strings.Index(l.Part.Text.Text[from:to], word); i >= 0 && word != "" {
		return l.Part.Text.Range(from+i, from+i+len(word))
	}
	return l.ValueRange()
}

// Words are the words of the value.
func (l Line) Words() []string {
	words, _ := unitfile.Words(l.Value)
	return words
}

// Known says that nothing in the value is unknown.
func (l Line) Known() bool { return !Holes(l.Value) }

// Lines are the directives of all parts, in the order in which they apply.
func (u *Unit) Lines() []Line {
	if u.lines != nil {
		return u.lines
	}
	for _, part := range u.Parts {
		for _, s := range part.File.Sections {
			for i := range s.Directives {
				u.lines = append(u.lines, Line{&s.Directives[i], part, s.Name})
			}
		}
	}
	return u.lines
}

// All are the directives of a key in a section, in order.
func (u *Unit) All(section string, keys ...string) []Line {
	var list []Line
	for _, l := range u.Lines() {
		if l.Section == section && slices.Contains(keys, l.Key) {
			list = append(list, l)
		}
	}
	return list
}

// Last is the directive in force of a key that has one value.
func (u *Unit) Last(section, key string) (Line, bool) {
	all := u.All(section, key)
	if len(all) == 0 {
		return Line{}, false
	}
	return all[len(all)-1], true
}

// Value is the value in force of a key, "" if it has none or it is not known.
func (u *Unit) Value(section, key string) string {
	l, ok := u.Last(section, key)
	if !ok || !l.Known() {
		return ""
	}
	return l.Value
}

// Words are the words of all values of a key that lists units and the like,
// after the last empty one.
func (u *Unit) Words(section, key string) []string {
	var words []string
	for _, l := range u.All(section, key) {
		if l.Value == "" {
			words = nil
			continue
		}
		more, _ := unitfile.Words(l.Value)
		words = append(words, more...)
	}
	return words
}

// IsService says that it is a service.
func (u *Unit) IsService() bool { return u.Name.Type == "service" }

// Closed says that the whole unit is known: what is missing is not there.
func (u *Unit) Closed() bool { return u.Own && !u.Open && len(u.Parts) > 0 }

// Main is the range to name for what is missing in the unit: the header of its
// section, else the step's.
func (u *Unit) Main(section string) hcl.Range {
	for _, part := range u.Parts {
		for _, s := range part.File.Sections {
			if s.Name == section {
				return part.Range(s.Range)
			}
		}
	}
	return u.Step.Header
}

// Starts says that the recipe starts the unit with this step.
func (u *Unit) Starts() bool {
	state, _ := u.Step.Arg("state").Text()
	return state == "started"
}

// execKeys are the directives of services that hold command lines.
func execKeys() []string {
	return []string{"ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost"}
}

// Command is one command of a unit.
type Command struct {
	Line
	unitfile.Command
}

// Commands are the commands of a service, those whose text cannot be split left
// out.
func (u *Unit) Commands() []Command {
	if u.split {
		return u.commands
	}
	u.split = true
	for _, l := range u.All("Service", execKeys()...) {
		commands, err := unitfile.SplitExecs(l.Value)
		if err != nil {
			continue
		}
		for _, c := range commands {
			u.commands = append(u.commands, Command{l, c})
		}
	}
	return u.commands
}
