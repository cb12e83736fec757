package hosttest

import (
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
)

// loadCases are about unit files and what Reload makes of them.
func loadCases() map[string]func(manager) {
	return map[string]func(manager){
		"reload picks up a changed file": changedFile,
		"a removed file":                 removedFile,
		"a drop-in":                      dropIn,
		"a masked unit":                  maskedUnit,
		"an alias":                       aliasUnit,
		"enabling is a link":             enabling,
		"ordering":                       ordering,
		"a bad setting":                  badSetting,
	}
}

func changedFile(m manager) {
	m.load("a.service", oneshot+succeed)
	m.unit("a.service")
	m.run(host.JobStart, "a.service")
	m.load("a.service", oneshot+succeed+remain)
	if !m.unit("a.service").RemainAfterExit {
		m.Error("a reload does not pick up the changed file")
	}
	m.run(host.JobStart, "a.service")
	m.put("a.service", oneshot+succeed)
	// The unit is active, so that the manager keeps what it has loaded.
	if !m.unit("a.service").RemainAfterExit {
		m.Error("a changed file counts without a reload")
	}
	m.reload()
	if u := m.unit("a.service"); u.RemainAfterExit || u.NeedDaemonReload {
		m.Errorf("after the reload the unit is %+v", u)
	}
}

func removedFile(m manager) {
	m.load("a.service", service+stay)
	m.run(host.JobStart, "a.service")
	m.ok(host.Remove(m.Files, path.Join(UnitDir, prefix+"a.service")))
	m.reload()
	if u := m.unit("a.service"); u.LoadState != "not-found" || u.ActiveState != "active" {
		m.Errorf("a running unit without its file is %+v", u)
	}
	m.run(host.JobStop, "a.service")
	m.until("a.service", "forgotten", func(u host.UnitState) bool {
		return u.LoadState == "not-found" && u.ActiveState == "inactive"
	})
}

func dropIn(m manager) {
	m.put("a.service", oneshot+succeed)
	m.load("a.service.d/10-x.conf", service+remain)
	u := m.unit("a.service")
	want := path.Join(UnitDir, prefix+"a.service.d/10-x.conf")
	if !u.RemainAfterExit || !slices.Contains(u.DropInPaths, want) {
		m.Errorf("with a drop-in the unit is %+v", u)
	}
	m.ok(host.Remove(m.Files, want))
	m.reload()
	if u := m.unit("a.service"); u.RemainAfterExit || slices.Contains(u.DropInPaths, want) {
		m.Errorf("without the drop-in the unit is %+v", u)
	}
}

func maskedUnit(m manager) {
	m.ok(host.Symlink(m.Files, "/dev/null", path.Join(UnitDir, prefix+"a.service")))
	m.reload()
	u := m.unit("a.service")
	if u.LoadState != "masked" || !strings.HasPrefix(u.UnitFileState, "masked") {
		m.Errorf("a masked unit is %+v", u)
	}
	if err := m.try(host.JobStart, "a.service"); err == nil {
		m.Error("a masked unit can be started")
	}
	m.load("a.service", oneshot+succeed)
	m.run(host.JobStart, "a.service")
}

func aliasUnit(m manager) {
	m.put("a.service", service+stay+"[Install]\nAlias="+prefix+"b.service\n")
	m.ok(host.Symlink(m.Files, prefix+"a.service", path.Join(UnitDir, prefix+"b.service")))
	m.reload()
	if u := m.unit("b.service"); u.Name != prefix+"a.service" || u.LoadState != "loaded" {
		m.Errorf("an alias is %+v", u)
	}
	m.run(host.JobStart, "b.service")
	m.active("a.service", "active")
	m.run(host.JobStop, "b.service")
	m.active("a.service", "inactive")
}

func enabling(m manager) {
	m.load("a.service", service+stay+"[Install]\nWantedBy="+prefix+"x.target\n")
	if u := m.unit("a.service"); u.UnitFileState != "disabled" {
		m.Errorf("an installable unit is %q, want disabled", u.UnitFileState)
	}
	wants := path.Join(UnitDir, prefix+"x.target.wants")
	m.ok(m.Files.MkdirAll(wants, 0o755))
	m.ok(host.Symlink(m.Files, "../"+prefix+"a.service", path.Join(wants, prefix+"a.service")))
	m.reload()
	if u := m.unit("a.service"); !strings.HasPrefix(u.UnitFileState, "enabled") {
		m.Errorf("an enabled unit is %q", u.UnitFileState)
	}
	m.ok(m.Files.RemoveAll(wants))
	m.reload()
	if u := m.unit("a.service"); u.UnitFileState != "disabled" {
		m.Errorf("a unit whose link is gone is %q", u.UnitFileState)
	}
}

func ordering(m manager) {
	m.put("b.service", oneshot+succeed)
	m.load("a.service", "[Unit]\nAfter="+prefix+"b.service\n"+oneshot+succeed)
	if u := m.unit("a.service"); !slices.Contains(u.After, prefix+"b.service") {
		m.Errorf("ordered after %q", u.After)
	}
}

func badSetting(m manager) {
	m.load("a.service", "[Service]\nType=simple\n")
	if u := m.unit("a.service"); u.LoadState != "bad-setting" || u.LoadError == "" {
		m.Errorf("a service without a command is %q (%s)", u.LoadState, u.LoadError)
	}
	if err := m.try(host.JobStart, "a.service"); err == nil {
		m.Error("a unit with a bad setting can be started")
	}
}
