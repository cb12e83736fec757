package unitfile

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"hostler/interpreter/host"
)

// EtcDir is where an administrator's unit files and all links of enabling are.
const EtcDir = "/etc/systemd/system"

// MaskTarget is what a mask links to.
const MaskTarget = "/dev/null"

const (
	runDir       = "/run/systemd/system"
	transientDir = "/run/systemd/transient"
	generatorDir = "/run/systemd/generator"
	libDir       = "/lib/systemd/system"
)

// SearchPath lists the directories that the system manager reads unit files
// from, the first one wins. /lib is among them where it is a directory of its
// own.
func SearchPath(f host.FileView) []string {
	dirs := []string{
		"/etc/systemd/system.control", "/run/systemd/system.control", transientDir, generatorDir + ".early",
		EtcDir, "/etc/systemd/system.attached", runDir, "/run/systemd/system.attached", generatorDir,
		"/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
	}
	if f != nil {
		if info, err := host.Lstat(f, "/lib"); err == nil && info.IsDir() {
			dirs = append(dirs, libDir)
		}
	}
	return append(dirs, generatorDir+".late")
}

// Tree is the unit files of a host, together with files that are going to be
// there: what the methods say is what would hold then. The zero Tree is an
// empty host.
type Tree struct {
	Files host.FileView
	// Pending are files by path; nil bytes mean that nothing will be there.
	Pending map[string][]byte
}

// entryKind is what stands at a path.
type entryKind int

const (
	nothing entryKind = iota
	regular
	link
	other
)

type entry struct {
	kind   entryKind
	target string // of a link, verbatim
	empty  bool   // of a regular file
}

func (t Tree) entry(name string) (entry, error) {
	if bytes, ok := t.Pending[name]; ok {
		if bytes == nil {
			return entry{}, nil
		}
		return entry{kind: regular, empty: len(bytes) == 0}, nil
	}
	if t.Files == nil {
		return entry{}, nil
	}
	info, err := host.Lstat(t.Files, name)
	switch {
	case host.Absent(err):
		return entry{}, nil
	case err != nil:
		return entry{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := t.Files.ReadlinkIfPossible(name)
		return entry{kind: link, target: target}, err
	case info.Mode().IsRegular():
		return entry{kind: regular, empty: info.Size() == 0}, nil
	}
	return entry{kind: other}, nil
}

// maxFile bounds what is read of one unit file, in bytes.
const maxFile = 16 << 20

func (t Tree) read(name string) ([]byte, error) {
	if bytes, ok := t.Pending[name]; ok {
		if bytes == nil {
			return nil, fs.ErrNotExist
		}
		return bytes, nil
	}
	if t.Files == nil {
		return nil, fs.ErrNotExist
	}
	f, err := t.Files.Open(name)
	if err != nil {
		return nil, err
	}
	bytes, err := io.ReadAll(io.LimitReader(f, maxFile))
	return bytes, errors.Join(err, f.Close())
}

// list is the sorted names in a directory, none if it is not there.
func (t Tree) list(dir string) ([]string, error) {
	var names []string
	if t.Files != nil {
		found, err := host.Names(t.Files, dir)
		if err != nil && !host.Absent(err) {
			return nil, err
		}
		names = found
	}
	for name, bytes := range t.Pending {
		if path.Dir(name) == dir && bytes != nil {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n string) bool {
		bytes, ok := t.Pending[dir+"/"+n]
		return ok && bytes == nil
	}), nil
}
