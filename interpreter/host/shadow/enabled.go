package shadow

import (
	"path"
	"strings"

	"hostler/interpreter/host"
)

// fileState says whether the unit is enabled, as "systemctl is-enabled" does.
func (t unitText) fileState(f host.FileView, s settings, link bool) (string, error) {
	for _, dir := range []string{"/etc/systemd/system", "/run/systemd/system"} {
		on, err := t.enabledIn(f, dir)
		if err != nil {
			return "", err
		}
		if on {
			return "enabled" + runtime(dir), nil
		}
	}
	switch dir := path.Dir(t.fragment); {
	case strings.HasPrefix(dir, "/run/systemd/generator"):
		return "generated", nil
	case dir == "/run/systemd/transient":
		return "transient", nil
	case link:
		return "linked" + runtime(dir), nil
	case s.install:
		return "disabled", nil
	case s.also:
		return "indirect", nil
	}
	return "static", nil
}

// enabledIn looks in a directory for links that pull the unit in, and for
// other names of it.
func (t unitText) enabledIn(f host.FileView, dir string) (bool, error) {
	names, err := listing(f, dir)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		link := path.Join(dir, name)
		switch path.Ext(name) {
		case ".wants", ".requires", ".upholds":
			link = path.Join(link, t.name)
		default:
			if name == t.name {
				continue
			}
		}
		target, err := f.ReadlinkIfPossible(link)
		switch {
		case err != nil: // no link
		case path.Base(link) == t.name, path.Base(target) == t.name:
			return true, nil
		}
	}
	return false, nil
}
