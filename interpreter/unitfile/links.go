package unitfile

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Links are symbolic links: path to target.
type Links map[string]string

// LinkOp is one link to make or to remove.
type LinkOp struct {
	Path   string
	Target string // "" removes the link
}

func (op LinkOp) String() string {
	if op.Target == "" {
		return "remove " + op.Path
	}
	return op.Path + " -> " + op.Target
}

// linkDirs are the suffixes of the directories that hold enabling links.
var linkDirs = [...]string{".wants", ".requires", ".upholds"}

// Wanted is the complete set of links by which the unit, and those that its
// [Install] section names in Also=, are enabled. An alias stands for the unit
// it names. A unit that cannot be enabled is an error that says why (ErrNoUnit,
// ErrNoInstall, ErrNeedsInstance, ErrMasked, ErrGenerated, ErrTransient); such a
// unit in Also= is passed over, as systemctl does.
func (t Tree) Wanted(unit string) (Links, error) {
	all := Links{}
	seen := map[string]bool{}
	queue := []string{unit}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		also, err := t.addWanted(next, all)
		if err != nil && (next == unit || !passedOver(err)) {
			return nil, err
		}
		queue = append(queue, also...)
	}
	return all, nil
}

// passedOver says that a unit in Also= does not hinder the one that names it.
func passedOver(err error) bool {
	for _, reason := range []error{ErrNoUnit, ErrNoInstall, ErrNeedsInstance, ErrMasked, ErrGenerated, ErrTransient} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// addWanted adds the links of one unit and returns the units of its Also=.
func (t Tree) addWanted(unit string, all Links) ([]string, error) {
	u, file, err := t.enablable(unit)
	if err != nil {
		return nil, err
	}
	install := file.Install()
	if !install.HasRules() && len(install.Also) == 0 {
		return nil, fmt.Errorf("%s: %w", unit, ErrNoInstall)
	}
	links, err := install.links(u.Name, u.Path)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, links)
	return alsoNames(u.Name, install)
}

// enablable is the unit's file, or why it cannot be enabled.
func (t Tree) enablable(unit string) (Unit, *File, error) {
	u, err := t.Find(unit)
	if err != nil {
		return u, nil, err
	}
	switch {
	case u.Masked:
		return u, nil, fmt.Errorf("%s: %w at %s", unit, ErrMasked, u.MaskPath)
	case u.Path == "":
		return u, nil, fmt.Errorf("%s: %w", unit, ErrNoUnit)
	case u.Generated():
		return u, nil, fmt.Errorf("%s (%s): %w", unit, u.Path, ErrGenerated)
	case u.Transient():
		return u, nil, fmt.Errorf("%s: %w", unit, ErrTransient)
	}
	file, err := t.Load(u)
	return u, file, err
}

// alsoNames are the units of Also=, specifiers resolved.
func alsoNames(n Name, install Install) ([]string, error) {
	var names []string
	for _, also := range install.Also {
		name, err := expand(also, n)
		if err == nil {
			_, err = ParseName(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: Also=%s: %w: %w", n, also, ErrBadName, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// Family is the unit itself (the real one, for an alias) and every unit that
// is enabled and disabled with it through Also=. What cannot be read is left
// out: the set is for finding links, not for making them.
func (t Tree) Family(unit string) ([]string, error) {
	var family []string
	queue := []string{unit}
	for len(queue) > 0 {
		u, err := t.Find(queue[0])
		queue = queue[1:]
		if err != nil {
			return nil, err
		}
		name := u.Name.String()
		if slices.Contains(family, name) {
			continue
		}
		family = append(family, name)
		if u.Path == "" {
			continue
		}
		file, err := t.Load(u)
		if err != nil {
			return nil, err
		}
		if also, err := alsoNames(u.Name, file.Install()); err == nil {
			queue = append(queue, also...)
		}
	}
	return family, nil
}

// EnabledLinks are the links below /etc/systemd/system by which the unit
// itself is enabled: in directories of wants, requirements and upholds, and
// its aliases. Of a template it is the link of the default instance, and those
// of the template as such; other instances are units of their own. The mask,
// and a link of the unit's own name that only makes its file known, are not
// among them.
func (t Tree) EnabledLinks(unit string) (Links, error) {
	all, err := t.EtcLinks()
	if err != nil {
		return nil, err
	}
	links := Links{}
	return links, t.enabledAmong(all, unit, links)
}

// EtcLinks are all links in /etc/systemd/system and its directories of wants,
// requirements and upholds.
func (t Tree) EtcLinks() (Links, error) {
	all := Links{}
	err := t.eachLinkIn(EtcDir, func(file, target string) { all[file] = target })
	return all, err
}

// enabledAmong adds those of all links that enable a unit.
func (t Tree) enabledAmong(all Links, unit string, links Links) error {
	names, err := t.linkNames(unit)
	if err != nil {
		return err
	}
	for file, target := range all {
		if owns(names, file, target) {
			links[file] = target
		}
	}
	return nil
}

// owns says whether a link is one of those that enable a unit. names are the
// unit's own name and, of a template, that of its default instance.
func owns(names []string, file, target string) bool {
	base, to, top := path.Base(file), path.Base(target), path.Dir(file) == EtcDir
	if slices.Contains(names, base) {
		return !top || base != names[0]
	}
	n, err := ParseName(names[0])
	b, baseErr := ParseName(base)
	switch {
	case err != nil || baseErr != nil:
		return false
	case n.IsInstance():
		return (to == names[0] || to == n.TemplateName().String()) && b.Instance == n.Instance
	case n.Template:
		return to == names[0] && !b.IsInstance()
	}
	return to == names[0]
}

// linkNames are the names under which a unit's links go.
func (t Tree) linkNames(unit string) ([]string, error) {
	n, err := ParseName(unit)
	if err != nil || !n.Template {
		return []string{unit}, err
	}
	u, err := t.Find(unit)
	if err != nil || u.Path == "" {
		return []string{unit}, err
	}
	file, err := t.Load(u)
	if err != nil {
		return nil, err
	}
	if link, err := file.Install().linkName(n); err == nil && link != n {
		return []string{unit, link.String()}, nil
	}
	return []string{unit}, nil
}

// eachLinkIn visits every link of a unit directory and of its link
// directories.
func (t Tree) eachLinkIn(dir string, visit func(file, target string)) error {
	names, err := t.list(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		e, err := t.entry(dir + "/" + name)
		if err != nil {
			return err
		}
		switch {
		case e.kind == link:
			visit(dir+"/"+name, e.target)
		case e.kind == other && slices.Contains(linkDirs[:], path.Ext(name)):
			err = t.eachLinkIn(dir+"/"+name, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
