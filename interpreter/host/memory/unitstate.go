package memory

import (
	"path"
	"slices"
	"strings"
)

// fileState is what "systemctl is-enabled" says of a name.
func (r unitReader) fileState(name string) string {
	hit := r.locate(name)
	runtime := strings.HasPrefix(hit.file, "/run/")
	switch {
	case hit.name != name:
		return "alias"
	case hit.file == "":
		return ""
	case hit.masked && runtime:
		return "masked-runtime"
	case hit.masked:
		return "masked"
	case strings.HasPrefix(hit.file, "/run/systemd/generator"):
		return "generated"
	case strings.HasPrefix(hit.file, "/run/systemd/transient"):
		return "transient"
	}
	text := r.install(hit)
	installs := slices.ContainsFunc([]string{"WantedBy", "RequiredBy", "UpheldBy", "Alias"}, func(key string) bool {
		return len(text.words("Install", key)) > 0
	})
	for _, dir := range searchPath() {
		if (installs || dir == unitEtc || dir == unitRun) && r.enabledIn(dir, name, text.words("Install", "Alias")) {
			if dir == unitRun {
				return "enabled-runtime"
			}
			return "enabled"
		}
	}
	return r.unlinkedState(hit, text, installs)
}

// unlinkedState is the state of a unit file that no link enables.
func (r unitReader) unlinkedState(hit found, text unitText, installs bool) string {
	target := r.link(hit.file)
	switch {
	case target != "" && !slices.Contains(searchPath(), path.Dir(target)):
		return "linked"
	case installs:
		return "disabled"
	case len(text.words("Install", "Also")) > 0:
		return "indirect"
	}
	return "static"
}

func (r unitReader) install(hit found) unitText {
	text := unitText{}
	for _, file := range append([]string{hit.file}, r.dropIns(hit.name)...) {
		if content, err := r.content(file); err == nil {
			text.add(content)
		}
	}
	return text
}

// enabledIn says whether a link below dir pulls the unit in: from .wants and
// the like, or as one of the aliases it installs.
func (r unitReader) enabledIn(dir, name string, aliases []string) bool {
	for _, entry := range r.names(dir) {
		full := path.Join(dir, entry)
		if target := r.link(full); target != "" {
			if slices.Contains(aliases, entry) && entry != name && path.Base(target) == name {
				return true
			}
			continue
		}
		ext := path.Ext(entry)
		if ext != ".wants" && ext != ".requires" && ext != ".upholds" {
			continue
		}
		for _, base := range r.names(full) {
			if base == name || path.Base(r.link(path.Join(full, base))) == name {
				return true
			}
		}
	}
	return false
}
