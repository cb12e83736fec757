package memory_test

import (
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

const (
	service = "[Service]\nExecStart=/bin/sleep infinity\n"
	etc     = "/etc/systemd/system/"
	wanted  = "[Install]\nWantedBy=multi-user.target\n"
)

// unitFiles are unit files in /etc/systemd/system.
func unitFiles(all map[string]string) map[string]memory.File {
	files := map[string]memory.File{}
	for name, content := range all {
		files[etc+name] = memory.File{Content: content}
	}
	return files
}

func unitBox(t *testing.T, all map[string]string) box {
	t.Helper()
	return newBox(t, memory.Options{Files: unitFiles(all)})
}

func TestUnitFileStates(t *testing.T) {
	vendor := "/usr/lib/systemd/system/"
	b := newBox(t, memory.Options{Files: map[string]memory.File{
		vendor + "plain.service":                       {Content: service},
		vendor + "off.service":                         {Content: service + wanted},
		vendor + "on.service":                          {Content: service + wanted},
		etc + "multi-user.target.wants/on.service":     {Link: vendor + "on.service"},
		vendor + "also.service":                        {Content: service + "[Install]\nAlso=off.service\n"},
		etc + "masked.service":                         {Link: "/dev/null"},
		vendor + "masked.service":                      {Content: service},
		etc + "empty.service":                          {},
		"/run/systemd/system/rmask.service":            {Link: "../../../dev/null"},
		"/run/systemd/generator/gen.service":           {Content: service},
		"/run/systemd/transient/tran.service":          {Content: service},
		"/srv/linked.service":                          {Content: service},
		etc + "linked.service":                         {Link: "/srv/linked.service"},
		vendor + "named.service":                       {Content: service + "[Install]\nAlias=other.service\n"},
		etc + "other.service":                          {Link: vendor + "named.service"},
		vendor + "unnamed.service":                     {Content: service + "[Install]\nAlias=nick.service\n"},
		vendor + "t@.service":                          {Content: service + wanted},
		etc + "multi-user.target.wants/t@b.service":    {Link: vendor + "t@.service"},
		vendor + "x@.service":                          {Content: service + wanted},
		"/run/systemd/system/a.target.wants/r.service": {Link: vendor + "r.service"},
		vendor + "r.service":                           {Content: service + wanted},
		vendor + "v.service":                           {Content: service},
		vendor + "a.target.wants/v.service":            {Link: "../v.service"},
		etc + "broken.service":                         {Link: "/srv/none/broken.service"},
	}})
	b.Reboot() // /run is empty then; put the runtime files back
	for _, name := range []string{"gen", "tran"} {
		dir := map[string]string{"gen": "/run/systemd/generator/", "tran": "/run/systemd/transient/"}[name]
		b.ok(b.Files.MkdirAll(dir, 0o755))
		b.put(dir+name+".service", service)
	}
	b.ok(b.Files.MkdirAll("/run/systemd/system/a.target.wants", 0o755))
	b.ok(b.Files.SymlinkIfPossible("../../../dev/null", "/run/systemd/system/rmask.service"))
	b.ok(b.Files.SymlinkIfPossible(vendor+"r.service", "/run/systemd/system/a.target.wants/r.service"))
	b.ok(b.Units.Reload(t.Context()))
	for name, want := range map[string]string{
		"plain.service": "static", "off.service": "disabled", "on.service": "enabled", "also.service": "indirect",
		"masked.service": "masked", "empty.service": "masked", "rmask.service": "masked-runtime",
		"gen.service": "generated", "tran.service": "transient", "linked.service": "linked",
		"named.service": "enabled", "unnamed.service": "disabled", "other.service": "enabled",
		"t@b.service": "enabled", "t@c.service": "disabled", "t@.service": "enabled", "x@.service": "disabled",
		"r.service": "enabled-runtime", "v.service": "static", "none.service": "", "broken.service": "",
	} {
		if got := b.unit(name).UnitFileState; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if u := b.unit("other.service"); u.Name != "named.service" {
		t.Errorf("the alias leads to %q", u.Name)
	}
}

func TestC23EnableWithoutEffect(t *testing.T) {
	b := unitBox(t, map[string]string{"a.service": service, "b.service": service + "[Install]\nAlias=other.service\n"})
	if got := b.unit("a.service").UnitFileState; got != "static" {
		t.Errorf("a unit without [Install] is %q", got)
	}
	if got := b.unit("b.service").UnitFileState; got != "disabled" {
		t.Errorf("a unit with only an alias is %q before", got)
	}
	b.ok(host.Symlink(b.Files, etc+"b.service", etc+"other.service"))
	if got := b.unit("b.service").UnitFileState; got != "enabled" {
		t.Errorf("a unit with only an alias is %q after", got)
	}
}

func TestC25TemplatesAndGeneratedUnits(t *testing.T) {
	b := unitBox(t, map[string]string{"tmpl@.service": "[Service]\nExecStart=/bin/sleep infinity\n[Unit]\nConditionPathExists=/etc/%i\n"})
	if err := b.Units.Run(t.Context(), host.JobStart, "tmpl@.service"); err == nil || !strings.Contains(err.Error(), "instance") {
		t.Errorf("starting a template: %v", err)
	}
	b.run(host.JobStart, "tmpl@none.service")
	if u := b.unit("tmpl@none.service"); u.ActiveState != "inactive" {
		t.Errorf("the condition on %%i: %+v", u)
	}
	b.run(host.JobStart, "tmpl@passwd.service")
	if u := b.unit("tmpl@passwd.service"); u.ActiveState != "active" || u.FragmentPath != etc+"tmpl@.service" {
		t.Errorf("an instance is %+v", u)
	}
	b.ok(b.Files.MkdirAll("/run/systemd/generator", 0o755))
	b.put("/run/systemd/generator/minimal.service", service)
	b.run(host.JobRestart, "minimal.service")
	if u := b.unit("minimal.service"); u.UnitFileState != "generated" || u.ActiveState != "active" {
		t.Errorf("a generated unit is %+v", u)
	}
}

func TestFilesCountFromTheNextReload(t *testing.T) {
	b := unitBox(t, map[string]string{"a.service": service})
	b.run(host.JobStart, "a.service")
	if b.unit("a.service").NeedDaemonReload {
		t.Error("a unit that was just read needs a reload")
	}
	for what, change := range map[string]func(){
		"written again": func() { b.put(etc+"a.service", service) },
		"drop-in": func() {
			b.ok(b.Files.MkdirAll(etc+"a.service.d", 0o755))
			b.put(etc+"a.service.d/x.conf", "[Service]\nRemainAfterExit=yes\n")
		},
		"drop-in written again": func() {
			b.ok(b.Files.MkdirAll(etc+"a.service.d", 0o755))
			b.put(etc+"a.service.d/x.conf", "[Service]\nRemainAfterExit=yes\n")
			b.ok(b.Units.Reload(t.Context()))
			b.put(etc+"a.service.d/x.conf", "")
		},
		"masked": func() { b.ok(host.Symlink(b.Files, "/dev/null", etc+"a.service")) },
		"removed": func() {
			b.ok(host.Remove(b.Files, etc+"a.service"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			b.put(etc+"a.service", service)
			b.ok(b.Files.RemoveAll(etc + "a.service.d"))
			b.ok(b.Units.Reload(t.Context()))
			change()
			if u := b.unit("a.service"); !u.NeedDaemonReload || u.LoadState != "loaded" || u.ActiveState != "active" {
				t.Errorf("before the reload: %+v", u)
			}
			b.ok(b.Units.Reload(t.Context()))
			if u := b.unit("a.service"); u.NeedDaemonReload || u.ActiveState != "active" {
				t.Errorf("after the reload: %+v", u)
			}
		})
	}
}

func TestMaskedUnitUnmasked(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true}}})
	b.ok(host.Symlink(b.Files, "/dev/null", etc+"a.service"))
	b.ok(b.Units.Reload(t.Context()))
	if u := b.unit("a.service"); u.LoadState != "masked" || u.ActiveState != "active" {
		t.Errorf("a running masked unit is %+v", u)
	}
	if err := b.Units.Run(t.Context(), host.JobRestart, "a.service"); err == nil || !strings.Contains(err.Error(), "masked") {
		t.Errorf("restarting a masked unit: %v", err)
	}
	b.ok(host.Remove(b.Files, etc+"a.service"))
	if !b.unit("a.service").NeedDaemonReload {
		t.Error("unmasking needs no reload")
	}
	b.run(host.JobStop, "a.service")
}

func TestDropInOrderAndShadowing(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{
		"/usr/lib/systemd/system/a-b@.service":            {Content: service},
		"/usr/lib/systemd/system/a-b@.service.d/20.conf":  {Content: "[Service]\nType=notify\n"},
		"/usr/lib/systemd/system/a-b@x.service.d/10.conf": {Content: "[Service]\nType=oneshot\n"},
		"/usr/lib/systemd/system/a-.service.d/30.conf":    {Content: "[Unit]\nAfter=x.target\n"},
		"/usr/lib/systemd/system/service.d/40.conf":       {Content: "[Unit]\nAfter=y.target \\\n# comment\nz.target\n"},
		"/usr/lib/systemd/system/service.d/50.conf":       {Content: "[Unit]\nAfter=no.target\n"},
		etc + "service.d/50.conf":                         {Link: "/dev/null"},
		etc + "service.d/readme":                          {Content: "no drop-in"},
	}})
	u := b.unit("a-b@x.service")
	lib := "/usr/lib/systemd/system/"
	b.same(u.DropInPaths, lib+"a-b@x.service.d/10.conf", lib+"a-b@.service.d/20.conf", lib+"a-.service.d/30.conf", lib+"service.d/40.conf")
	b.same(u.After, "x.target", "y.target", "z.target")
	if u.Type != "notify" {
		t.Errorf("type %q, want that of the last drop-in", u.Type)
	}
}

func TestBootStartsWhatIsEnabledInOrder(t *testing.T) {
	var order []string
	say := func(name string) memory.Script {
		return func(int) memory.Outcome {
			order = append(order, name)
			return memory.Outcome{Ends: true}
		}
	}
	files := unitFiles(map[string]string{
		"a.service":   "[Unit]\nAfter=c.service\n[Service]\nType=oneshot\nExecStart=/x\n",
		"b.service":   "[Unit]\nBefore=c.service\n[Service]\nType=oneshot\nExecStart=/x\n",
		"c.service":   "[Unit]\nRequires=d.service\nAfter=d.service\n[Service]\nType=oneshot\nExecStart=/x\n",
		"d.service":   "[Service]\nType=oneshot\nExecStart=/x\n",
		"off.service": "[Service]\nType=oneshot\nExecStart=/x\n" + wanted,
	})
	for _, name := range []string{"a.service", "b.service", "c.service"} {
		files[etc+"multi-user.target.wants/"+name] = memory.File{Link: etc + name}
	}
	files[etc+"multi-user.target.requires/none.service"] = memory.File{Link: "/dev/null"}
	scripts := map[string]memory.Script{}
	for _, name := range []string{"a", "b", "c", "d", "off"} {
		scripts[name+".service"] = say(name)
	}
	b := newBox(t, memory.Options{Files: files, Scripts: scripts})
	if got := strings.Join(order, ""); got != "bdca" && got != "dbca" {
		t.Errorf("started in the order %q", got)
	}
	if u := b.unit("a.service"); u.InactiveExit == 0 || u.ActiveEnter != 0 || u.Result != "success" {
		t.Errorf("a oneshot that ran at boot is %+v", u)
	}
}
