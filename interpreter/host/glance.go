package host

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// Glance is a view that looks only once at each place of some directories. It
// is for steps that are asked one after the other about the same few
// directories while nobody changes them, and is not to outlive a change. It is
// not safe for concurrent use.
type Glance struct {
	FileView
	dirs    []string
	infos   map[string]fs.FileInfo // nil: not there
	targets map[string]string
	names   map[string][]string // sorted; nil: no directory is there
}

// NewGlance returns a view of f that remembers what is below the directories,
// and the directories themselves.
func NewGlance(f FileView, dirs ...string) *Glance {
	return &Glance{FileView: f, dirs: dirs, infos: map[string]fs.FileInfo{}, targets: map[string]string{}, names: map[string][]string{}}
}

// covers says whether a place is remembered. A name that is not clean may lead
// elsewhere.
func (g *Glance) covers(name string) bool {
	return slices.ContainsFunc(g.dirs, func(dir string) bool {
		return name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
	}) && path.Clean(name) == name
}

// LstatIfPossible does not follow a final link.
func (g *Glance) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if !g.covers(name) {
		return g.FileView.LstatIfPossible(name)
	}
	info, known := g.infos[name]
	if !known {
		if g.missing(name) {
			return nil, true, absent("lstat", name)
		}
		found, _, err := g.FileView.LstatIfPossible(name)
		if err != nil && !Absent(err) {
			return nil, true, err
		}
		info = found
		if err != nil {
			info = nil
		}
		g.infos[name] = info
	}
	if info == nil {
		return nil, true, absent("lstat", name)
	}
	return info, true, nil
}

// ReadlinkIfPossible returns a link's target.
func (g *Glance) ReadlinkIfPossible(name string) (string, error) {
	if target, known := g.targets[name]; known {
		return target, nil
	}
	target, err := g.FileView.ReadlinkIfPossible(name)
	if err == nil && g.covers(name) {
		g.targets[name] = target
	}
	return target, err
}

// Open opens what is there.
func (g *Glance) Open(name string) (afero.File, error) {
	if g.covers(name) && g.missing(name) {
		return nil, absent("open", name)
	}
	return g.FileView.Open(name)
}

// missing says that the directory which holds a place was read and does not
// have it.
func (g *Glance) missing(name string) bool {
	dir := path.Dir(name)
	if !g.covers(dir) {
		return false
	}
	names, err := g.list(dir)
	if Absent(err) {
		return true
	}
	_, found := slices.BinarySearch(names, path.Base(name))
	return err == nil && !found
}

// list is the sorted names in a directory that is covered.
func (g *Glance) list(dir string) ([]string, error) {
	names, known := g.names[dir]
	if !known {
		var err error
		if names, err = g.read(dir); err != nil && !Absent(err) {
			return nil, err
		}
		g.names[dir] = names
	}
	if names == nil {
		return nil, absent("open", dir)
	}
	return names, nil
}

// read is never nil for a directory that is there.
func (g *Glance) read(dir string) ([]string, error) {
	if g.missing(dir) {
		return nil, absent("open", dir)
	}
	names, err := listed(g.FileView, dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return append([]string{}, names...), nil
}

func absent(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
}
