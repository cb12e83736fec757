package shadow

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// unitDirs is where the manager looks for unit files, the strongest first
// (systemd.unit(5)).
func unitDirs() []string {
	return []string{
		"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
		"/run/systemd/generator.early", "/etc/systemd/system", "/run/systemd/system",
		"/run/systemd/generator", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
		"/lib/systemd/system", "/run/systemd/generator.late",
	}
}

// unitText is what the files of a unit say.
type unitText struct {
	name     string // its own, where it was asked for by an alias
	load     string // "loaded", "masked", "bad-setting" or "not-found"
	fragment string
	dropIns  []string
	texts    []string // of the fragment and the drop-ins
	state    string   // of the unit file: "enabled", "static", …
	kind     string   // of a service: "oneshot", …
	remain   bool
	reload   bool // it can be reloaded
	fault    string
	after    []string
}

func (t unitText) sameText(o unitText) bool {
	return t.load == o.load && t.fragment == o.fragment &&
		slices.Equal(t.dropIns, o.dropIns) && slices.Equal(t.texts, o.texts)
}

func (t unitText) same(o unitText) bool { return t.sameText(o) && t.state == o.state }

// describe puts into a state what the files say.
func (t unitText) describe(s *host.UnitState) {
	s.Name, s.LoadState, s.LoadError = t.name, t.load, t.fault
	s.FragmentPath, s.DropInPaths, s.UnitFileState = t.fragment, t.dropIns, t.state
	if t.load == "loaded" {
		s.Type, s.RemainAfterExit = t.kind, t.remain
	}
}

// reorder replaces in a list of units what before added by what t adds; what
// the manager adds by itself stays.
func (t unitText) reorder(after []string, before unitText) []string {
	after = slices.DeleteFunc(slices.Clone(after), func(name string) bool { return slices.Contains(before.after, name) })
	return append(after, t.after...)
}

// assumed is the state of a unit that a job was given to unseen: it is there,
// a generator may make it.
func (t unitText) assumed() host.UnitState {
	if t.load == "not-found" {
		t.load = "loaded"
	}
	s := host.UnitState{}
	t.describe(&s)
	return s
}

// readUnit reads the files of the unit name.
func readUnit(f host.FileView, name string) (unitText, error) {
	t := unitText{name: name, load: "not-found"}
	link, err := t.find(f)
	if err != nil || t.load == "not-found" {
		return t, err
	}
	if t.load == "masked" {
		t.state = "masked" + runtime(t.fragment)
		return t, nil
	}
	if err := t.read(f); err != nil {
		return t, err
	}
	settings := parseUnit(t.texts)
	t.kind, t.remain = settings.service(t.name)
	t.reload, t.after = settings.reload, settings.after
	if t.fault = settings.fault(t.name); t.fault != "" {
		t.load = "bad-setting"
	}
	t.state, err = t.fileState(f, settings, link)
	return t, err
}

// find looks for the fragment, following aliases; link says that it is a link
// out of the unit directories.
func (t *unitText) find(f host.FileView) (link bool, err error) {
	for range 8 {
		where, target, err := locate(f, t.name)
		if err != nil || where == "" {
			return false, err
		}
		t.fragment, t.load = where, "loaded"
		info, err := f.Stat(where)
		switch {
		case target == "/dev/null", err == nil && info.Mode().IsRegular() && info.Size() == 0:
			t.load = "masked"
			return false, nil
		case host.Absent(err):
			t.fragment, t.load = "", "not-found"
			return false, nil
		case err != nil:
			return false, err
		case target == "" || path.Base(target) == path.Base(where):
			return target != "" && !slices.Contains(unitDirs(), path.Dir(target)), nil
		}
		t.name = aliased(t.name, path.Base(target))
	}
	return false, fmt.Errorf("unit %s: its aliases lead in a circle", t.name)
}

// aliased is the unit that an alias names; a template's takes the instance.
func aliased(name, target string) string {
	_, rest, ok := strings.Cut(name, "@")
	if before, after, both := strings.Cut(target, "@"); ok && both && strings.HasPrefix(after, ".") {
		return before + "@" + rest
	}
	return target
}

// locate finds the file of a unit, or else of its template, and what it links
// to.
func locate(f host.FileView, name string) (where, target string, err error) {
	for _, candidate := range slices.Compact([]string{name, template(name)}) {
		for _, dir := range unitDirs() {
			where := path.Join(dir, candidate)
			info, err := host.Lstat(f, where)
			if host.Absent(err) {
				continue
			}
			if err != nil {
				return "", "", err
			}
			if info.Mode()&fs.ModeSymlink == 0 {
				return where, "", nil
			}
			target, err := f.ReadlinkIfPossible(where)
			return where, target, err
		}
	}
	return "", "", nil
}

// template is the file that an instance is made of; other names are their own.
func template(name string) string {
	before, rest, ok := strings.Cut(name, "@")
	if !ok {
		return name
	}
	return before + "@" + path.Ext(rest)
}

// runtime is the suffix of states that a reboot ends.
func runtime(file string) string {
	if strings.HasPrefix(file, "/run/") {
		return "-runtime"
	}
	return ""
}

// read reads the fragment and finds and reads the drop-ins.
func (t *unitText) read(f host.FileView) error {
	found := map[string]string{}
	for _, folder := range dropInNames(t.name) {
		for _, dir := range unitDirs() {
			entries, err := listing(f, path.Join(dir, folder))
			if err != nil {
				return err
			}
			for _, e := range entries {
				if _, taken := found[e]; !taken && strings.HasSuffix(e, ".conf") {
					found[e] = path.Join(dir, folder, e)
				}
			}
		}
	}
	for _, base := range slices.Sorted(mapKeys(found)) {
		t.dropIns = append(t.dropIns, found[base])
	}
	for _, name := range append([]string{t.fragment}, t.dropIns...) {
		text, err := readText(f, name)
		if err != nil {
			return fmt.Errorf("unit %s: %w", t.name, err)
		}
		t.texts = append(t.texts, text)
	}
	return nil
}

// dropInNames are the directories a unit's drop-ins may be in, the strongest
// first: its own, its template's, those of the beginnings of its name that end
// in a dash, that of its type.
func dropInNames(name string) []string {
	ext := path.Ext(name)
	names := slices.Compact([]string{name + ".d", template(name) + ".d"})
	stem := strings.TrimSuffix(name, ext)
	for i := strings.LastIndexByte(stem, '-'); i >= 0; i = strings.LastIndexByte(stem[:i], '-') {
		names = append(names, stem[:i+1]+ext+".d")
	}
	return append(names, strings.TrimPrefix(ext, ".")+".d")
}

func listing(f host.FileView, dir string) ([]string, error) {
	d, err := f.Open(dir)
	if host.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// readText reads a unit file. A drop-in that is masked or dangling is empty.
func readText(f host.FileView, name string) (string, error) {
	info, err := f.Stat(name)
	if host.Absent(err) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := afero.ReadAll(file)
	return string(b), err
}
