// Package unitfile reads systemd unit files and works with them where no
// manager runs.
//
// It reads unit-file text with positions, splits and expands values, knows the
// names of units, and follows the rules of [Install] sections: which links
// enable a unit, which are there, and what `systemctl --root=DIR is-enabled`
// would say. A table of known directives is there for lint. Files are read
// through package host's file door and nothing else of a host is touched.
//
// Figures and rules are those of systemd.syntax(7), systemd.unit(5),
// systemd.service(5) and systemctl(1).
package unitfile

import "strings"

// File is a parsed unit file, or one with its drop-ins.
type File struct {
	Name     string
	Sections []*Section
}

// Section is a part of a unit file from a header on. One name may have many.
type Section struct {
	Name       string
	Range      Range // the header
	Directives []Directive
}

// Directive is one assignment.
type Directive struct {
	// Key and Value are without blanks around them; in a Value that goes
	// over many lines the ends of lines are blanks.
	Key, Value string
	// KeyRange and ValueRange say where they stand; the range of an empty
	// value is empty, after the equals sign.
	KeyRange, ValueRange Range
}

// Merge is the file with its drop-ins applied, in their order. Positions stay
// those of the file a directive comes from.
func Merge(f *File, dropIns ...*File) *File {
	all := &File{Name: f.Name, Sections: append([]*Section(nil), f.Sections...)}
	for _, d := range dropIns {
		all.Sections = append(all.Sections, d.Sections...)
	}
	return all
}

// Has says whether there is a section of that name.
func (f *File) Has(section string) bool {
	for _, s := range f.Sections {
		if s.Name == section {
			return true
		}
	}
	return false
}

// All lists the assignments of a key, in order, empty ones too.
func (f *File) All(section, key string) []Directive {
	var all []Directive
	for _, s := range f.Sections {
		if s.Name != section {
			continue
		}
		for _, d := range s.Directives {
			if d.Key == key {
				all = append(all, d)
			}
		}
	}
	return all
}

// List is the values of a key that may be given many times: an empty
// assignment takes back those before it.
func (f *File) List(section, key string) []string {
	var values []string
	for _, d := range f.All(section, key) {
		if d.Value == "" {
			values = nil
			continue
		}
		values = append(values, d.Value)
	}
	return values
}

// Words is the words of a key whose values are lists of words.
func (f *File) Words(section, key string) ([]string, error) {
	var words []string
	for _, value := range f.List(section, key) {
		more, err := Words(value)
		if err != nil {
			return words, err
		}
		words = append(words, more...)
	}
	return words, nil
}

// Last is the value in force of a key that has one value, "" if it has none.
func (f *File) Last(section, key string) string {
	all := f.All(section, key)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Value
}

// Bool is the value in force of a yes-or-no key; def when it has none or one
// that is neither.
func (f *File) Bool(section, key string, def bool) bool {
	switch strings.ToLower(f.Last(section, key)) {
	case "1", "yes", "y", "true", "t", "on":
		return true
	case "0", "no", "n", "false", "f", "off":
		return false
	}
	return def
}
