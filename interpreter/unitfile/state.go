package unitfile

import (
	"path"
	"slices"
	"strings"
)

// What [Tree.State] answers, in the words of `systemctl is-enabled`.
const (
	Enabled        = "enabled"         // by links in /etc/systemd/system
	EnabledRuntime = "enabled-runtime" // by links in /run/systemd/system
	Disabled       = "disabled"        // it has an [Install] section and no links
	Static         = "static"          // it has no [Install] section
	Indirect       = "indirect"        // only through Also= or another name
	Linked         = "linked"          // its file is outside of the search path
	LinkedRuntime  = "linked-runtime"
	Masked         = "masked"
	MaskedRuntime  = "masked-runtime"
	Alias          = "alias"
	Generated      = "generated"
	Transient      = "transient"
	NotFound       = "not-found"
)

// State says whether a unit is enabled, as `systemctl --root is-enabled` does.
func (t Tree) State(unit string) (string, error) {
	u, err := t.Find(unit)
	if err != nil {
		return "", err
	}
	switch {
	case u.Masked:
		return runtime(u.MaskPath, Masked, MaskedRuntime), nil
	case u.Name.String() != unit:
		return Alias, nil
	case u.Path == "":
		return NotFound, nil
	case u.Generated():
		return Generated, nil
	case u.Transient():
		return Transient, nil
	case u.Linked:
		return t.linked(u)
	}
	return t.enabled(u)
}

func runtime(file, persistent, volatile string) string {
	if strings.HasPrefix(file, "/run/") {
		return volatile
	}
	return persistent
}

// linked tells how a file outside of the search path is known.
func (t Tree) linked(u Unit) (string, error) {
	if state, err := t.enabled(u); err != nil || state == Enabled {
		return state, err
	}
	e, err := t.entry(EtcDir + "/" + u.Name.String())
	if e.kind == link {
		return Linked, err
	}
	return LinkedRuntime, err
}

// enabled tells for a unit with a file of its own.
func (t Tree) enabled(u Unit) (string, error) {
	file, err := t.Load(u)
	if err != nil {
		return "", err
	}
	install := file.Install()
	for _, dir := range []struct{ path, state string }{{EtcDir, Enabled}, {runDir, EnabledRuntime}} {
		known, other, err := t.linksTo(dir.path, u.Name, install)
		switch {
		case err != nil:
			return "", err
		case known:
			return dir.state, nil
		case other && dir.path == EtcDir:
			return Indirect, nil
		}
	}
	switch {
	case install.HasRules():
		return Disabled, nil
	case len(install.Also) > 0:
		return Indirect, nil
	}
	return Static, nil
}

// linksTo looks for links to the unit in a unit directory: under a name that
// its [Install] section gives it, or under another.
func (t Tree) linksTo(dir string, n Name, install Install) (known, other bool, err error) {
	names := []string{n.String()}
	if link, err := install.linkName(n); err == nil {
		names = append(names, link.String())
	}
	for _, alias := range install.Alias {
		if a, err := aliasName(alias, n); err == nil {
			names = append(names, a.String())
		}
	}
	err = t.eachLinkIn(dir, func(file, target string) {
		base, to := path.Base(file), path.Base(target)
		if path.Dir(file) == dir && base == n.String() || base != n.String() && to != n.String() && !isOf(to, n) {
			return
		}
		if slices.Contains(names, base) {
			known = true
		} else if to == n.String() {
			other = true
		}
	})
	return known, other, err
}

// isOf says whether file is the template of the instance n.
func isOf(file string, n Name) bool { return n.IsInstance() && file == n.TemplateName().String() }
