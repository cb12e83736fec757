package unitfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// Unit is a unit file that was found.
type Unit struct {
	// Name is the unit's own name; it differs from the one asked for when
	// that is an alias.
	Name Name
	// Path is the file that defines it, "" when there is none.
	Path string
	// Masked says that a link to /dev/null or an empty file stands for it at
	// MaskPath.
	Masked   bool
	MaskPath string
	// Linked says that its file is outside of the search path.
	Linked bool
}

// Found says whether there is a file, or a mask instead.
func (u Unit) Found() bool { return u.Path != "" || u.Masked }

func (u Unit) below(dir string) bool { return strings.HasPrefix(u.Path, dir) }

// Generated and Transient say that the file is made by a generator or was
// given to the running manager.
func (u Unit) Generated() bool { return u.below(generatorDir) }

// Transient: see Generated.
func (u Unit) Transient() bool { return u.below(transientDir + "/") }

// maxLinks bounds how many aliases are followed.
const maxLinks = 16

// Find looks for a unit's file in the search path, through aliases.
func (t Tree) Find(name string) (Unit, error) {
	n, err := ParseName(name)
	if err != nil {
		return Unit{}, err
	}
	dirs := SearchPath(t.Files)
	for range maxLinks {
		u, next, err := t.findOnce(dirs, n)
		if err != nil {
			return Unit{}, fmt.Errorf("%s: %w", name, err)
		}
		if next == (Name{}) {
			return u, nil
		}
		n = next
	}
	return Unit{}, fmt.Errorf("%s: its aliases run in a circle", name)
}

// findOnce looks for one name; next is the unit it is an alias of.
func (t Tree) findOnce(dirs []string, n Name) (u Unit, next Name, err error) {
	names := []Name{n}
	if n.IsInstance() {
		names = append(names, n.TemplateName())
	}
	for _, candidate := range names {
		for _, dir := range dirs {
			file := dir + "/" + candidate.String()
			e, err := t.entry(file)
			if err != nil {
				return Unit{}, Name{}, err
			}
			switch {
			case e.kind == link:
				return t.follow(dirs, n, file, e.target)
			case e.kind == regular && e.empty:
				return Unit{Name: n, Masked: true, MaskPath: file}, Name{}, nil
			case e.kind == regular:
				return Unit{Name: n, Path: file}, Name{}, nil
			}
		}
	}
	return Unit{Name: n}, Name{}, nil
}

// follow takes a link in the search path: a mask, a unit file of the same name
// elsewhere, or an alias.
func (t Tree) follow(dirs []string, n Name, file, target string) (Unit, Name, error) {
	full := absolute(file, target)
	if full == MaskTarget {
		return Unit{Name: n, Masked: true, MaskPath: file}, Name{}, nil
	}
	to, err := ParseName(path.Base(full))
	if err != nil || to == n || to == n.TemplateName() && n.IsInstance() {
		return t.same(dirs, n, file, full)
	}
	if to.Template && n.IsInstance() {
		to = to.Of(n.Instance)
	}
	return Unit{}, to, nil
}

// same is a unit whose file is reached by a link of its own name.
func (t Tree) same(dirs []string, n Name, file, full string) (Unit, Name, error) {
	bytes, err := t.read(file)
	switch {
	case host.Absent(err):
		return Unit{Name: n}, Name{}, nil
	case err != nil:
		return Unit{}, Name{}, err
	case len(bytes) == 0:
		return Unit{Name: n, Masked: true, MaskPath: file}, Name{}, nil
	}
	return Unit{Name: n, Path: full, Linked: !slices.Contains(dirs, path.Dir(full))}, Name{}, nil
}

// absolute is where the link at file points to.
func absolute(file, target string) string {
	if path.IsAbs(target) {
		return path.Clean(target)
	}
	return path.Join(path.Dir(file), target)
}
