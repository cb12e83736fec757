package memory

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// definition is a unit as the manager read it, which its files may have left
// behind since.
type definition struct {
	name      string
	loadState string
	loadError string
	fragment  string
	read      time.Time // modification time of the fragment
	dropIns   []string
	dropped   time.Time // newest modification time of the drop-ins
	text      unitText

	requires, wants, after, before, conflicts, partOf, onFailure []string
}

// references are the units that this one keeps in the manager's memory.
func (d *definition) references() []string {
	return slices.Concat(d.requires, d.wants, d.after, d.before, d.conflicts, d.partOf, d.onFailure)
}

// load reads a unit's files.
func (r unitReader) load(asked string) *definition {
	hit := r.locate(asked)
	d := &definition{name: hit.name, fragment: hit.file, text: unitText{}}
	content, known := "", hit.file != ""
	switch {
	case hit.masked:
		d.loadState, d.read = "masked", r.modTime(hit.file)
		return d
	case known:
		text, err := r.content(hit.file)
		if err != nil {
			d.loadState, d.loadError = "error", err.Error()
			return d
		}
		content, d.read = text, r.modTime(hit.file)
	default:
		content, known = builtin(hit.name)
	}
	if !known {
		d.loadState = "not-found"
		return d
	}
	d.text.add(content)
	d.addDropIns(r)
	d.expand()
	d.collect(r)
	d.loadState = "loaded"
	if d.loadError = d.badSetting(); d.loadError != "" {
		d.loadState = "bad-setting"
	}
	return d
}

func (d *definition) addDropIns(r unitReader) {
	d.dropIns = r.dropIns(d.name)
	for _, file := range d.dropIns {
		if text, err := r.content(file); err == nil {
			d.text.add(text)
		}
		if t := r.modTime(file); t.After(d.dropped) {
			d.dropped = t
		}
	}
}

func (r unitReader) modTime(file string) time.Time {
	if info, err := r.f.Stat(file); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// stale says whether the files are others than those that were read.
func (d *definition) stale(r unitReader) bool {
	if d.fragment != "" {
		t := r.modTime(d.fragment)
		if d.loadState == "masked" {
			return !r.locate(d.name).masked
		}
		if t.IsZero() || !t.Equal(d.read) || r.locate(d.name).masked {
			return true
		}
	}
	if d.loadState == "not-found" {
		return false
	}
	list := r.dropIns(d.name)
	return !slices.Equal(list, d.dropIns) || slices.ContainsFunc(list, func(file string) bool {
		return r.modTime(file).After(d.dropped)
	})
}

// collect gathers dependencies from the text and from .wants and .requires.
func (d *definition) collect(r unitReader) {
	unit := func(keys ...string) (list []string) {
		for _, key := range keys {
			list = append(list, d.text.words("Unit", key)...)
		}
		return list
	}
	d.requires = append(unit("Requires", "Requisite", "BindsTo"), r.linked(d.name, ".requires")...)
	d.wants = append(unit("Wants", "Upholds"), r.linked(d.name, ".wants")...)
	d.after, d.before = unit("After"), unit("Before")
	d.conflicts, d.partOf = unit("Conflicts"), unit("PartOf", "BindsTo")
	d.onFailure = unit("OnFailure")
	if strings.HasSuffix(d.name, ".target") {
		d.after = append(d.after, slices.Concat(d.requires, d.wants)...)
	}
	for _, list := range []*[]string{&d.requires, &d.wants, &d.after, &d.before} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// linked are the units linked from a unit's .wants or .requires directories.
func (r unitReader) linked(name, suffix string) (list []string) {
	owners := []string{name}
	if tmpl, instance := template(name); instance != "" {
		owners = append(owners, tmpl)
	}
	for _, dir := range searchPath() {
		for _, owner := range owners {
			full := path.Join(dir, owner+suffix)
			for _, base := range r.names(full) {
				if r.link(path.Join(full, base)) != "/dev/null" {
					list = append(list, base)
				}
			}
		}
	}
	return list
}

// badSetting is the manager's objection to a unit that cannot work.
func (d *definition) badSetting() string {
	if !strings.HasSuffix(d.name, ".service") {
		return ""
	}
	starts := len(d.text.all("Service", "ExecStart"))
	switch {
	case starts == 0 && len(d.text.all("Service", "ExecStop")) == 0:
		return "Service has no ExecStart=, ExecStop=, or SuccessAction= setting. Refusing."
	case starts > 1 && d.kind() != "oneshot":
		return "Service has more than one ExecStart= setting, which is only allowed for Type=oneshot services. Refusing."
	case starts == 0 && !d.text.yes("Service", "RemainAfterExit") && d.kind() != "oneshot":
		return "Service has no ExecStart= setting, which is only allowed for RemainAfterExit=yes services. Refusing."
	}
	return ""
}

// kind is the service type, "" for other units.
func (d *definition) kind() string {
	if !strings.HasSuffix(d.name, ".service") {
		return ""
	}
	known := []string{"simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"}
	if t := d.text.one("Service", "Type"); slices.Contains(known, t) {
		return t
	}
	if len(d.text.all("Service", "ExecStart")) == 0 {
		return "oneshot"
	}
	return "simple"
}

func sortedKeys[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }

// validUnit says whether a name can be a unit's, templates included.
func validUnit(name string) bool {
	types := []string{".service", ".socket", ".target", ".timer", ".mount", ".automount", ".swap", ".path", ".slice", ".scope", ".device"}
	ext := path.Ext(name)
	return slices.Contains(types, ext) && len(name) > len(ext) && len(name) <= maxName && !strings.ContainsAny(name, "/ \t\n")
}
