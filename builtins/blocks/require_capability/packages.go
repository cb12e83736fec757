package requirecapability

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// manager is a package manager.
type manager struct {
	key        string // as recipes name it
	command    string
	refresh    []string
	installing []string
	env        []string
	// mend finishes what was cut short, nil where nothing has to.
	mend []string
	// installed asks for one package; the package's name is appended.
	installed []string
	// answer is what installed prints for a package that is there, "" if its
	// exit status says it.
	answer string
}

// managers are those known, the preferred one first.
func managers() []manager {
	return []manager{
		{
			key: "apt", command: "apt-get", refresh: []string{"update", "-y"}, installing: []string{"install", "-y", "--no-install-recommends"},
			env: []string{"DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1"}, answer: "installed",
			mend:      []string{"dpkg", "--configure", "-a"},
			installed: []string{"dpkg-query", "--show", "--showformat=${db:Status-Status}"},
		},
		{key: "tdnf", command: "tdnf", refresh: []string{"makecache"}, installing: []string{"install", "-y"}, installed: []string{"rpm", "-q", "--quiet"}},
		{key: "dnf", command: "dnf", refresh: []string{"makecache"}, installing: []string{"install", "-y"}, installed: []string{"rpm", "-q", "--quiet"}},
	}
}

func packages() block.Attr {
	return block.Attr{
		Name: "packages", Type: cty.Map(cty.List(cty.String)), Grammar: "object of package managers",
		Doc:     "What a mutable host may install when a program or module is missing, by package manager: `{ apt = \"nftables\", dnf = [\"nftables\"], tdnf = … }`. An image-managed host never installs.",
		Convert: packagesOf, Check: checkPackages,
	}
}

// packagesOf makes a list of a single package's name.
func packagesOf(v cty.Value) (cty.Value, error) {
	if v.IsNull() || !(v.Type().IsObjectType() || v.Type().IsMapType()) {
		return v, block.Advicef("Write an object such as { apt = \"nftables\", dnf = \"nftables\" }.")
	}
	lists := map[string]cty.Value{}
	for name, value := range v.AsValueMap() {
		switch {
		case value.IsNull():
			continue
		case value.Type() == cty.String:
			lists[name] = cty.ListVal([]cty.Value{value})
		case value.Type().IsTupleType() && value.LengthInt() > 0:
			lists[name] = cty.ListVal(value.AsValueSlice())
		default:
			lists[name] = value
		}
	}
	if len(lists) == 0 {
		return cty.MapValEmpty(cty.List(cty.String)), nil
	}
	return cty.ObjectVal(lists), nil
}

var packageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_:~=-]*$`)

func checkPackages(v cty.Value) error {
	for name, list := range packageLists(v) {
		if !slices.ContainsFunc(managers(), func(m manager) bool { return m.key == name }) {
			return block.Advicef("%q is no package manager hostler knows; write apt, dnf or tdnf.", name)
		}
		if len(list) == 0 {
			return block.Advicef("%s has no package; name one.", name)
		}
		for _, p := range list {
			if !packageName.MatchString(p) {
				return block.Advicef("%q is no package name.", p)
			}
		}
	}
	return nil
}

func packageLists(v cty.Value) map[string][]string {
	lists := map[string][]string{}
	if v.IsNull() {
		return lists
	}
	for name, list := range v.AsValueMap() {
		lists[name] = []string{}
		if list.IsNull() {
			continue
		}
		for _, p := range list.AsValueSlice() {
			if !p.IsNull() {
				lists[name] = append(lists[name], p.AsString())
			}
		}
	}
	return lists
}

// installer is the package manager that may install on this host, with what
// the recipe names for it. An image-managed host has none, whatever binaries
// lie there.
func (s *step) installer(v host.View) (m manager, names []string, ok bool) {
	if s.image {
		return m, nil, false
	}
	for _, m := range managers() {
		if names := s.packages[m.key]; len(names) > 0 {
			if _, err := host.LookTool(v.Files, m.command); err == nil {
				return m, names, true
			}
		}
	}
	return m, nil, false
}

// missing asks the package database. Where there is no tool to ask with, every
// package counts as missing: what it should have brought is not there.
func (m manager) missing(ctx context.Context, h host.Host, names []string) ([]string, error) {
	if _, err := host.LookTool(h.Files, m.installed[0]); err != nil {
		return names, nil
	}
	var missing []string
	for _, name := range names {
		res, err := h.Commands.Run(ctx, host.Command{Argv: append(slices.Clone(m.installed), name)})
		_, failed := errors.AsType[*host.ExitError](err)
		switch {
		case failed, err == nil && m.answer != "" && string(bytes.TrimSpace(res.Stdout)) != m.answer:
			missing = append(missing, name)
		case err != nil:
			return nil, fmt.Errorf("asking for the package %s: %w", name, err)
		}
	}
	return missing, nil
}
