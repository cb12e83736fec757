package nspawnmachine

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// file is a file of a slot as it should be.
type file struct {
	slot, path string
	content    []byte
}

// files are the files of all slots, as the host's devices make them now.
func (m *machine) files(f host.FileView) ([]file, error) {
	var all []file
	for _, slot := range m.slots {
		binds, err := m.binds(f, slot)
		if err != nil {
			return nil, err
		}
		if s := m.settings(slot); s != nil {
			all = append(all, file{slot, settingsPath(slot), m.renderSettings(s, binds)})
		}
		all = append(all, file{slot, dropInPath(slot), m.renderService(slot, binds)})
	}
	return all, nil
}

// bind is a path that is bound into the machine because it exists.
type bind struct {
	path     string
	device   bool
	readOnly bool
}

// line is its directive in the settings.
func (b bind) line() string {
	if b.readOnly {
		return "BindReadOnly=" + b.path
	}
	return "Bind=" + b.path
}

func (m *machine) renderSettings(s *settingsArgs, binds []bind) []byte {
	exec := newSection("Exec", s.Exec)
	exec.lines = append(exec.lines, m.unrestricted(s)...)
	files := newSection("Files", s.Files)
	for _, b := range binds {
		files.lines = append(files.lines, b.line())
	}
	return render(exec, newSection("Network", s.Network), files)
}

// renderService makes the drop-in. Its [Install] section starts the machine at boot
// even where nothing wants machines.target.
func (m *machine) renderService(slot string, binds []bind) []byte {
	s := m.service(slot)
	service := newSection("Service", s.Service)
	service.lines = append(m.cleanup(slot), service.lines...)
	for _, b := range binds {
		if b.device {
			service.lines = append(service.lines, "DeviceAllow="+b.path+" rwm")
		}
	}
	install := section{"Install", []string{"WantedBy=multi-user.target"}}
	return render(newSection("Unit", s.Unit), service, install)
}

// binds are the paths of bind_if_exists and bind_read_only_if_exists that
// exist, sorted. A path of both can be written to.
func (m *machine) binds(f host.FileView, slot string) ([]bind, error) {
	s := m.settings(slot)
	if s == nil {
		return nil, nil
	}
	all, err := existing(f, "bind_if_exists", s.BindIfExists)
	if err != nil {
		return nil, err
	}
	reads, err := existing(f, "bind_read_only_if_exists", s.ReadIfExists)
	if err != nil {
		return nil, err
	}
	for _, b := range reads {
		b.readOnly = true
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b bind) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b bind) bool { return a.path == b.path }), nil
}

// existing are the paths that match patterns of an attribute.
func existing(f host.FileView, attribute string, patterns []string) (all []bind, err error) {
	for _, pattern := range patterns {
		names, err := glob(f, pattern)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", attribute, pattern, err)
		}
		for _, name := range names {
			info, err := f.Stat(name)
			if host.Absent(err) {
				continue // a link that leads nowhere
			}
			if err != nil {
				return nil, fmt.Errorf("%s %q: %w", attribute, pattern, err)
			}
			all = append(all, bind{path: name, device: info.Mode()&fs.ModeDevice != 0})
		}
	}
	return all, nil
}

// glob lists the paths that match a pattern, component by component. Names
// that would break a line or be read as two paths are passed over.
func glob(f host.FileView, pattern string) ([]string, error) {
	found := []string{"/"}
	for part := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, dir := range found {
			names, err := matches(f, dir, part)
			if err != nil {
				return nil, err
			}
			next = append(next, names...)
		}
		found = next
	}
	return found, nil
}

func matches(f host.FileView, dir, part string) ([]string, error) {
	if !strings.ContainsAny(part, `*?[\`) {
		full := path.Join(dir, part)
		if _, err := host.Lstat(f, full); host.Absent(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return []string{full}, nil
	}
	names, err := host.Names(f, dir)
	if host.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if ok, err := path.Match(part, name); ok && err == nil && !strings.ContainsAny(name, ":\n\r") {
			found = append(found, path.Join(dir, name))
		}
	}
	slices.Sort(found)
	return found, nil
}

// filePlan is what changes about one file.
type filePlan struct {
	file
	action block.Action
	reason string
	bytes  bool // its content differs
	diff   block.Diff
}

// planFile compares one file with what it should be.
func planFile(f host.FileView, want file) (filePlan, error) {
	p := filePlan{file: want, action: block.ActionNone}
	found, err := thing.LookPath(f, want.path)
	if err != nil {
		return p, err
	}
	p.diff = block.Diff{Thing: string(thing.Path(want.path).Key()), New: want.content}
	switch {
	case found.Kind == thing.Directory || found.Kind == thing.Other:
		return p, fmt.Errorf("%s: a directory or device is there, where a file belongs; remove it", want.path)
	case found.Kind == thing.Absent:
		p.action, p.reason = block.ActionCreate, want.path+" is not there"
	case found.Kind == thing.Link:
		p.action, p.reason = block.ActionReplace, want.path+" is a link"
	case found.Digest != thing.Digest(want.content):
		p.action, p.reason = block.ActionUpdate, want.path+" differs"
		if p.diff.Old, err = thing.ReadAll(f, want.path); err != nil {
			return p, err
		}
		p.diff.Secret = !strings.HasSuffix(found.Mode, "4")
	case found.Mode != "0644" || found.UID != 0 || found.GID != 0:
		p.action, p.reason = block.ActionUpdate, "mode or owner of "+want.path+" differs"
		p.diff = block.Diff{Thing: p.diff.Thing, OldMode: found.Mode, NewMode: "0644",
			OldOwner: fmt.Sprintf("%d:%d", found.UID, found.GID), NewOwner: "0:0"}
		return p, nil
	default:
		return p, nil
	}
	p.bytes = true
	return p, nil
}

// apply writes the file, or puts its mode and owner right.
func (p filePlan) apply(f host.Files) error {
	switch {
	case p.action == block.ActionNone:
		return nil
	case !p.bytes:
		return host.SetAccess(f, p.path, host.Access{Mode: 0o644})
	}
	if err := host.MakeParents(f, p.path, 0o755); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	if err := host.Replace(f, p.path, host.Content{Bytes: p.content, Mode: 0o644}); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return nil
}
