package unitfile

import (
	"fmt"
	"slices"
	"strings"
)

// Load reads a unit's file with its drop-ins, from every directory of the
// search path. A drop-in hides those of the same name in later directories;
// they are applied in the order of their names.
func (t Tree) Load(u Unit) (*File, error) {
	f := &File{Name: u.Name.String()}
	if u.Path != "" {
		src, err := t.read(u.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		f, _ = Parse(u.Name.String(), src)
	}
	paths, err := t.DropIns(u.Name)
	if err != nil {
		return nil, err
	}
	var dropIns []*File
	for _, p := range paths {
		src, err := t.read(p)
		if err != nil {
			return nil, fmt.Errorf("drop-in %s: %w", p, err)
		}
		d, _ := Parse(u.Name.String(), src)
		dropIns = append(dropIns, d)
	}
	return Merge(f, dropIns...), nil
}

// DropIns lists the drop-in files of a unit, in the order they apply.
func (t Tree) DropIns(n Name) ([]string, error) {
	owners := []string{n.String()}
	if n.IsInstance() {
		owners = append(owners, n.TemplateName().String())
	}
	byName := map[string]string{}
	for _, owner := range owners {
		for _, dir := range SearchPath(t.Files) {
			if err := t.gather(byName, dir+"/"+owner+".d"); err != nil {
				return nil, err
			}
		}
	}
	var bases []string
	for base := range byName {
		bases = append(bases, base)
	}
	slices.Sort(bases)
	var paths []string
	for _, base := range bases {
		e, err := t.entry(byName[base])
		if err != nil {
			return nil, err
		}
		if e.kind == link && absolute(byName[base], e.target) == MaskTarget {
			continue
		}
		paths = append(paths, byName[base])
	}
	return paths, nil
}

func (t Tree) gather(byName map[string]string, dir string) error {
	names, err := t.list(dir)
	for _, name := range names {
		if strings.HasSuffix(name, ".conf") && byName[name] == "" && !strings.HasPrefix(name, ".") {
			byName[name] = dir + "/" + name
		}
	}
	return err
}
