package unitfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// Enable returns what has to be done so that the unit is enabled, as
// `systemctl --root enable` does it: links that are missing or point elsewhere
// are made, others stay. Nothing to do is no error. See [Tree.Wanted] for
// units that cannot be enabled; an alias whose name is taken is ErrTaken.
func (t Tree) Enable(unit string) ([]LinkOp, error) {
	want, err := t.Wanted(unit)
	if err != nil {
		return nil, err
	}
	have, err := t.there(want)
	if err != nil {
		return nil, err
	}
	return t.Changes(have, want), nil
}

// there are the links that stand where links are wanted. What is no link, and
// an alias that is taken by another unit, is ErrTaken.
func (t Tree) there(want Links) (Links, error) {
	have := Links{}
	for _, file := range slices.Sorted(maps.Keys(want)) {
		e, err := t.entry(file)
		if err != nil {
			return nil, err
		}
		alias := path.Dir(file) == EtcDir
		switch {
		case e.kind == nothing:
		case e.kind != link, alias && !t.sameTarget(file, e.target, want[file]):
			return nil, fmt.Errorf("%s: %w; it would have to link to %s", file, ErrTaken, want[file])
		default:
			have[file] = e.target
		}
	}
	return have, nil
}

// Disable returns what has to be done so that nothing enables the unit, or
// what it names in Also=, any more. A mask stays.
func (t Tree) Disable(unit string) ([]LinkOp, error) {
	have, err := t.FamilyLinks(unit)
	return t.Changes(have, nil), err
}

// FamilyLinks are the enabling links of the unit and of its family.
func (t Tree) FamilyLinks(unit string, more ...string) (Links, error) {
	all, err := t.EtcLinks()
	if err != nil {
		return nil, err
	}
	return t.FamilyAmong(all, unit, more...)
}

// FamilyAmong are those of the links of [Tree.EtcLinks] that enable the unit or
// its family, as the unit files of this tree tell.
func (t Tree) FamilyAmong(all Links, unit string, more ...string) (Links, error) {
	links := Links{}
	for _, name := range append([]string{unit}, more...) {
		family, err := t.Family(name)
		if err != nil {
			return nil, err
		}
		for _, member := range family {
			if err := t.enabledAmong(all, member, links); err != nil {
				return nil, err
			}
		}
	}
	return links, nil
}

// MaskPath is where the link that masks a unit stands.
func MaskPath(unit string) string { return EtcDir + "/" + unit }

// MaskLink is the link that masks the unit, none if it is not masked by one in
// /etc/systemd/system.
func (t Tree) MaskLink(unit string) (Links, error) {
	e, err := t.entry(MaskPath(unit))
	if err != nil || e.kind != link || absolute(MaskPath(unit), e.target) != MaskTarget {
		return Links{}, err
	}
	return Links{MaskPath(unit): e.target}, nil
}

// Changes are the operations that lead from the links that are there to those
// that are wanted. A wanted link that is there under another spelling of its
// target stays as it is.
func (t Tree) Changes(have, want Links) []LinkOp {
	var ops []LinkOp
	for _, file := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[file]; !ok {
			ops = append(ops, LinkOp{Path: file})
		}
	}
	for _, file := range slices.Sorted(maps.Keys(want)) {
		if target, ok := have[file]; !ok || !t.sameTarget(file, target, want[file]) {
			ops = append(ops, LinkOp{file, want[file]})
		}
	}
	return ops
}

// sameTarget says whether two targets of a link name the same file.
func (t Tree) sameTarget(file, a, b string) bool {
	a, b = absolute(file, a), absolute(file, b)
	if a == b {
		return true
	}
	merged := !slices.Contains(SearchPath(t.Files), libDir)
	usr := func(s string) string {
		if merged && strings.HasPrefix(s, libDir+"/") {
			return "/usr" + s
		}
		return s
	}
	return usr(a) == usr(b)
}

// Carry carries operations out, in order, durably. Directories for links are
// made with mode 0755; those that became empty are removed, as systemctl does.
// It is idempotent.
func Carry(f host.Files, ops []LinkOp) error {
	for _, op := range ops {
		if err := carry(f, op); err != nil {
			return fmt.Errorf("link %s: %w", op.Path, err)
		}
	}
	return nil
}

func carry(f host.Files, op LinkOp) error {
	if op.Target != "" {
		if err := host.MakeParents(f, op.Path, 0o755); err != nil {
			return err
		}
		return host.Symlink(f, op.Target, op.Path)
	}
	info, err := host.Lstat(f, op.Path)
	switch {
	case host.Absent(err):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink == 0:
		return errors.New("it is no link any more, and is left alone")
	default:
		if err := host.Remove(f, op.Path); err != nil {
			return err
		}
	}
	return removeEmpty(f, path.Dir(op.Path))
}

// removeEmpty removes a directory of links when nothing is in it.
func removeEmpty(f host.Files, dir string) error {
	if !slices.Contains(linkDirs[:], path.Ext(dir)) {
		return nil
	}
	err := host.Remove(f, dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
