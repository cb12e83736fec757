package walk

import (
	"errors"
	"path"
	"slices"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// located is a thing that stands elsewhere than its key says.
type located interface {
	File(f host.FileView) (string, error)
}

// dropStaging removes the temporary files that a killed run left beside a
// thing: nothing but the run that made them looks for them.
func dropStaging(f host.Files, t thing.Thing) error {
	switch key := t.Key(); key.Kind() {
	case "path":
		name := key.Name()
		if at, ok := t.(located); ok {
			file, err := at.File(f)
			if err != nil {
				return nil // it leads nowhere, so nothing is beside it
			}
			name = file
		}
		return ignoreUnknowable(host.Remove(f, host.TemporaryName(name)))
	case "unit-enabled":
		return ignoreUnknowable(dropStagedLinks(f, key.Name()))
	}
	return nil
}

// dropStagedLinks looks where enabling puts its links. A directory that was
// made for one and is empty goes with it.
func dropStagedLinks(f host.Files, unit string) error {
	names, err := host.Names(f, unitDirs[0])
	if host.Absent(err) {
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		switch dir := path.Join(unitDirs[0], name); path.Ext(name) {
		case ".wants", ".requires", ".upholds":
			err = errors.Join(err, host.Remove(f, host.TemporaryName(path.Join(dir, unit))), removeEmpty(f, dir))
		}
	}
	return errors.Join(err, host.Remove(f, host.TemporaryName(path.Join(unitDirs[0], unit))))
}

func removeEmpty(f host.Files, dir string) error {
	info, err := host.Lstat(f, dir)
	if err != nil || !info.IsDir() {
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
