package thing

import (
	"io/fs"
	"path"
	"slices"

	"hostler/interpreter/host"
)

// unitDirs are where enabling puts its links.
var unitDirs = [...]string{"/etc/systemd/system", "/run/systemd/system"}

// EnablingLinks lists the links by which a unit starts at boot: those below
// .wants, .requires and .upholds directories, and its aliases.
func EnablingLinks(f host.FileView, unit string) ([]string, error) {
	var links []string
	for _, dir := range unitDirs {
		names, err := namesIn(f, dir)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			full := path.Join(dir, n)
			switch path.Ext(n) {
			case ".wants", ".requires", ".upholds":
				full = path.Join(full, unit)
			}
			enables, err := isEnabling(f, full, unit)
			if err != nil {
				return nil, err
			}
			if enables {
				links = append(links, full)
			}
		}
	}
	slices.Sort(links)
	return links, nil
}

func namesIn(f host.FileView, dir string) ([]string, error) {
	names, err := host.Names(f, dir)
	if host.Absent(err) {
		return nil, nil
	}
	return names, err
}

// isEnabling says whether a link stands for the unit: in a .wants directory by
// its own name, elsewhere as an alias by its target. A link of the unit's own
// name beside the others only makes its file known.
func isEnabling(f host.FileView, link, unit string) (bool, error) {
	info, err := host.Lstat(f, link)
	if host.Absent(err) {
		return false, nil
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false, err
	}
	if path.Base(link) == unit {
		return !slices.Contains(unitDirs[:], path.Dir(link)), nil
	}
	target, err := f.ReadlinkIfPossible(link)
	return err == nil && path.Base(target) == unit, err
}
