package walk

import (
	"errors"
	"maps"
	"path"
	"slices"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// located is a thing that stands elsewhere than its key says.
type located interface {
	File(f host.FileView) (string, error)
}

// dropStaging removes the temporary files that a killed run left beside a
// thing: nothing but the run that made them looks for them.
func dropStaging(f host.Files, owned thing.Owned, o thing.Origin) error {
	switch key := owned.Key(); key.Kind() {
	case "path":
		name := key.Name()
		if at, ok := owned.Thing.(located); ok {
			file, err := at.File(f)
			if err != nil {
				return nil // it leads nowhere, so nothing is beside it
			}
			name = file
		}
		return ignoreUnknowable(host.Remove(f, host.TemporaryName(name)))
	case "unit-enabled":
		return ignoreUnknowable(dropStagedLinks(f, owned, o))
	}
	return nil
}

// tidy removes what a killed run left beside the things of a step that needs
// nothing: an unfinished installation may have been driven elsewhere then.
func (w *walker) tidy(p *block.Placed, f host.Files) error {
	if !w.resuming || w.Shadow {
		return nil
	}
	for _, want := range w.wants(p) {
		owned := want.Owned
		switch kind := owned.Key().Kind(); {
		case kind == "path":
		case kind == "unit-enabled" && w.Record.Repave != nil:
			owned.Want = nil // it may have been the other slot that was to be enabled
		default:
			continue
		}
		if err := dropStaging(f, owned, thing.Origin{}); err != nil {
			return err
		}
	}
	return nil
}

// dropStagedLinks looks where enabling puts its links: where they are wanted or
// were, or, if that is not known, everywhere. A directory that was made for one
// and is empty goes with it.
func dropStagedLinks(f host.Files, owned thing.Owned, o thing.Origin) error {
	unit := owned.Key().Name()
	dirs, err := linkDirs(f, owned.Want, o.State)
	for _, dir := range dirs {
		err = errors.Join(err, host.Remove(f, host.TemporaryName(path.Join(dir, unit))))
		switch path.Ext(dir) {
		case ".wants", ".requires", ".upholds":
			err = errors.Join(err, removeEmpty(f, dir))
		}
	}
	return err
}

// linkDirs are the directories in which links of the states are.
func linkDirs(f host.Files, states ...*thing.State) ([]string, error) {
	dirs := map[string]bool{unitDirs[0]: true}
	if states[0] == nil {
		names, err := host.Names(f, unitDirs[0])
		for _, name := range names {
			dirs[path.Join(unitDirs[0], name)] = true
		}
		if err != nil && !host.Absent(err) {
			return nil, err
		}
	}
	for _, st := range states {
		if st == nil {
			continue
		}
		for link := range st.Links {
			dirs[path.Dir(link)] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs)), nil
}

func removeEmpty(f host.Files, dir string) error {
	info, err := host.Lstat(f, dir)
	if host.Absent(err) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := host.Names(f, dir)
	if err != nil || len(names) > 0 {
		return err
	}
	return host.Remove(f, dir)
}

func ignoreUnknowable(err error) error {
	if unknowable(err) {
		return nil
	}
	return err
}
