package memory

import (
	"io"
	"path"
	"strings"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// Directories of unit files.
const (
	unitEtc = "/etc/systemd/system"
	unitRun = "/run/systemd/system"
	unitLib = "/usr/lib/systemd/system"
)

// searchPath is where the manager looks for unit files, first match wins.
func searchPath() []string {
	return []string{unitEtc, unitRun, "/run/systemd/transient", "/run/systemd/generator",
		"/usr/local/lib/systemd/system", unitLib}
}

// unitReader reads unit files of one root.
type unitReader struct{ f *files }

func (r unitReader) content(name string) (string, error) {
	file, err := r.f.Open(name)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(file)
	if err == nil {
		err = file.Close()
	}
	return string(b), err
}

// names lists a directory; one that cannot be read is empty.
func (r unitReader) names(dir string) []string {
	infos, err := afero.ReadDir(r.f, dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, info := range infos {
		names = append(names, info.Name())
	}
	return names
}

// link returns the target of a link as an absolute path, "" if name is none.
func (r unitReader) link(name string) string {
	target, err := r.f.ReadlinkIfPossible(name)
	if err != nil {
		return ""
	}
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(name), target)
	}
	return path.Clean(target)
}

// found is where a unit's file was found.
type found struct {
	name   string // the unit's own name, where the name asked for is an alias
	file   string // "" when there is none
	masked bool
}

// locate finds the file of a unit, going through aliases.
func (r unitReader) locate(name string) found {
	for range 10 {
		hit := r.scan(name, name)
		if tmpl, instance := template(name); hit.file == "" && instance != "" {
			hit = r.scan(name, tmpl)
		}
		if hit.name == name {
			return hit
		}
		name = hit.name
	}
	return found{name: name}
}

// scan looks for a file in the search path. A result with another name is an
// alias to follow.
func (r unitReader) scan(name, file string) found {
	for _, dir := range searchPath() {
		full := path.Join(dir, file)
		info, err := host.Lstat(r.f, full)
		if err != nil {
			continue
		}
		target := r.link(full)
		if _, err := r.f.Stat(full); err != nil && target != "/dev/null" && path.Base(target) == file {
			continue // a dangling link is no unit
		}
		switch base := path.Base(target); {
		case target == "/dev/null", target == "" && info.Size() == 0:
			return found{name, full, true}
		case target != "" && base != file:
			return found{name: sameInstance(base, name)}
		}
		return found{name, full, false}
	}
	return found{name: name}
}

// template splits "a@b.service" into "a@.service" and "b"; the instance is ""
// for other names.
func template(name string) (tmpl, instance string) {
	ext := path.Ext(name)
	prefix, instance, ok := strings.Cut(strings.TrimSuffix(name, ext), "@")
	if !ok {
		return name, ""
	}
	return prefix + "@" + ext, instance
}

// sameInstance carries the instance of a name over to the template it is an
// alias of.
func sameInstance(target, name string) string {
	tmpl, instance := template(target)
	if instance != "" || tmpl == target && !strings.Contains(target, "@.") {
		return target
	}
	_, instance = template(name)
	return strings.Replace(tmpl, "@", "@"+instance, 1)
}

// dropIns are the drop-in files of a unit in the order they are read.
func (r unitReader) dropIns(name string) []string {
	best := map[string]string{}
	for _, dir := range searchPath() {
		for _, owner := range dropInOwners(name) {
			for _, base := range r.names(path.Join(dir, owner+".d")) {
				if _, taken := best[base]; !taken && strings.HasSuffix(base, ".conf") {
					best[base] = path.Join(dir, owner+".d", base)
				}
			}
		}
	}
	var list []string
	for _, base := range sortedKeys(best) {
		if r.link(best[base]) != "/dev/null" {
			list = append(list, best[base])
		}
	}
	return list
}

// dropInOwners are the names whose .d directories count for a unit: its own,
// its template's, those of its dashed prefixes, and its type's.
func dropInOwners(name string) []string {
	owners := []string{name}
	tmpl, instance := template(name)
	if instance != "" {
		owners = append(owners, tmpl)
	}
	ext := path.Ext(name)
	for stem := strings.TrimSuffix(name, ext); ; {
		i := strings.LastIndex(strings.TrimRight(stem, "-"), "-")
		if i < 0 {
			break
		}
		stem = stem[:i+1]
		owners = append(owners, stem+ext)
	}
	return append(owners, strings.TrimPrefix(ext, "."))
}
