package interpreter

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// lookups answers what expressions ask of a host.
func lookups(ctx context.Context, v host.View) eval.Lookups {
	l := looking{ctx, v}
	return eval.Lookups{Files: l, System: l}
}

type looking struct {
	ctx  context.Context
	view host.View
}

// FileExists follows a final link.
func (l looking) FileExists(name string) (bool, error) {
	_, err := l.view.Files.Stat(name)
	if host.Absent(err) {
		return false, nil
	}
	return err == nil, err
}

// FileSHA256 is "" when there is no file.
func (l looking) FileSHA256(name string) (string, error) {
	st, err := thing.LookPath(l.view.Files, name)
	return strings.TrimPrefix(st.Digest, "sha256:"), err
}

// Glob matches component by component.
func (l looking) Glob(pattern string) ([]string, error) {
	found := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range found {
			names, err := l.matching(dir, part)
			if err != nil {
				return nil, err
			}
			next = append(next, names...)
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

func (l looking) matching(dir, part string) (found []string, err error) {
	if !strings.ContainsAny(part, `*?[\`) {
		name := path.Join(dir, part)
		if _, err := host.Lstat(l.view.Files, name); host.Absent(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return []string{name}, nil
	}
	info, err := l.view.Files.Stat(dir)
	if host.Absent(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := host.Names(l.view.Files, dir)
	for _, name := range names {
		ok, bad := path.Match(part, name)
		if bad != nil {
			return nil, bad
		}
		if ok && (!strings.HasPrefix(name, ".") || strings.HasPrefix(part, ".")) {
			found = append(found, path.Join(dir, name))
		}
	}
	return found, err
}

// Executable is "" when there is none.
func (l looking) Executable(name string) (string, error) {
	found, err := host.LookTool(l.view.Files, name)
	if errors.Is(err, host.ErrNoTool) {
		return "", nil
	}
	return found, err
}

// MachineRegistered is unknown on a host that does not run.
func (l looking) MachineRegistered(name string) (bool, error) {
	all, err := l.view.Machines.Registered(l.ctx)
	if errors.Is(err, host.ErrNoManager) {
		return false, host.Unknownf("which machines run on a host that is not running")
	}
	return slices.ContainsFunc(all, func(m host.MachineState) bool { return m.Name == name }), err
}

// UnitState is unknown on a host that does not run.
func (l looking) UnitState(name string) (host.UnitState, error) {
	u, err := l.view.Units.Unit(l.ctx, name)
	if errors.Is(err, host.ErrNoManager) {
		return u, host.Unknownf("the state of units of a host that is not running")
	}
	return u, err
}

// Listener is nil when nobody listens.
func (l looking) Listener(address string) (*host.ListenerState, error) {
	all, err := l.view.Network.Listeners(l.ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Address == address {
			return &s, nil
		}
	}
	return nil, nil
}
