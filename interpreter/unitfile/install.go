package unitfile

import (
	"errors"
	"fmt"
)

// Install is what an [Install] section says, drop-ins applied. The names are
// as written; specifiers are not resolved.
type Install struct {
	WantedBy, RequiredBy, UpheldBy []string
	Alias, Also                    []string
	DefaultInstance                string
}

// Install reads the [Install] section.
func (f *File) Install() Install {
	words := func(key string) []string {
		list, err := f.Words("Install", key)
		if err != nil {
			return nil // systemd ignores a list it cannot split
		}
		return list
	}
	return Install{
		WantedBy: words("WantedBy"), RequiredBy: words("RequiredBy"), UpheldBy: words("UpheldBy"),
		Alias: words("Alias"), Also: words("Also"), DefaultInstance: f.Last("Install", "DefaultInstance"),
	}
}

// HasRules says whether enabling the unit makes links.
func (i Install) HasRules() bool {
	return len(i.WantedBy)+len(i.RequiredBy)+len(i.UpheldBy)+len(i.Alias) > 0
}

// The reasons why a unit cannot be enabled; test with errors.Is.
var (
	ErrNoUnit        = errors.New("there is no such unit file")
	ErrNoInstall     = errors.New("it has no [Install] section, so there is nothing to enable; add one with WantedBy= (or drop enable), or let another unit want it")
	ErrNeedsInstance = errors.New("it is a template without DefaultInstance=; an instance name is needed, such as name@instance.service")
	ErrMasked        = errors.New("it is masked")
	ErrGenerated     = errors.New("it is a generated unit: enable is set by its source file")
	ErrTransient     = errors.New("it is a transient unit, which cannot be enabled")
	ErrTaken         = errors.New("something else is there")
	ErrBadName       = errors.New("its [Install] section names no valid unit")
)

// rule is one kind of links: the names and where their links go.
type rule struct {
	targets []string
	suffix  string
}

func (i Install) rules() []rule {
	return []rule{{i.WantedBy, ".wants"}, {i.RequiredBy, ".requires"}, {i.UpheldBy, ".upholds"}}
}

// linkName is the name that a unit's links carry: a template's default
// instance, if it has one.
func (i Install) linkName(n Name) (Name, error) {
	if !n.Template || i.DefaultInstance == "" {
		return n, nil
	}
	instance, err := expand(i.DefaultInstance, n)
	if err != nil {
		return n, err
	}
	return ParseName(n.Of(instance).String())
}

// links are the links that the section asks for, for the unit n whose file is
// at file.
func (i Install) links(n Name, file string) (Links, error) {
	links := Links{}
	link, err := i.linkName(n)
	if err != nil {
		return nil, fmt.Errorf("%s: DefaultInstance=%s: %w: %w", n, i.DefaultInstance, ErrBadName, err)
	}
	for _, r := range i.rules() {
		for _, target := range r.targets {
			to, err := destination(target, link)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n, err)
			}
			links[EtcDir+"/"+to.String()+r.suffix+"/"+link.String()] = file
		}
	}
	for _, alias := range i.Alias {
		name, err := aliasName(alias, n)
		if err != nil {
			return nil, fmt.Errorf("%s: Alias=%s: %w", n, alias, err)
		}
		if name != n {
			links[EtcDir+"/"+name.String()] = file
		}
	}
	return links, nil
}

// destination is the unit that a WantedBy= entry names. A template without an
// instance can only be wanted by templates and instances.
func destination(target string, n Name) (Name, error) {
	text, err := expand(target, n)
	if err != nil {
		return Name{}, err
	}
	to, err := ParseName(text)
	if err != nil {
		return Name{}, fmt.Errorf("%w: %w", ErrBadName, err)
	}
	if n.Template && !to.Template && !to.IsInstance() {
		return Name{}, ErrNeedsInstance
	}
	return to, nil
}

// aliasName is the name that an Alias= entry gives. Type and kind must be
// those of the unit; an instance gives its instance to a template alias.
func aliasName(alias string, n Name) (Name, error) {
	text, err := expand(alias, n)
	if err != nil {
		return Name{}, err
	}
	a, err := ParseName(text)
	switch {
	case err != nil:
		return Name{}, fmt.Errorf("%w: %w", ErrBadName, err)
	case a.Type != n.Type:
		return Name{}, fmt.Errorf("%w: an alias must have the unit's type, .%s", ErrBadName, n.Type)
	case a.Template && n.IsInstance():
		return a.Of(n.Instance), nil
	case a.Template != n.Template || a.Instance != n.Instance:
		return Name{}, fmt.Errorf("%w: an alias must be a template, an instance or neither, as the unit is", ErrBadName)
	}
	return a, nil
}
