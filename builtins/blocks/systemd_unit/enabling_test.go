package systemdunit

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

// TestC23: a unit without [Install] cannot be enabled; one with only an alias
// can, once.
func TestC23NoInstallAndAliasOnly(t *testing.T) {
	faults := blocktest.Faults(Type(), "name = \"a.service\"\ncontent = \"[Service]\\nExecStart=/x\\n\"\nenable = true\n")
	if !strings.Contains(faults, "No [Install] section") || !strings.Contains(faults, "line 3") {
		t.Errorf("faults: %s", faults)
	}
	s := newScene(t, memory.Options{Files: map[string]memory.File{foreign: {Content: plain}}})
	s.complains(s.step("name = \"f.service\"\nenable = true\n"), "no [Install] section")

	b := s.step("name = \"b.service\"\ncontent = \"[Service]\\nExecStart=/usr/bin/true\\n[Install]\\nAlias=other.service\\n\"\nenable = true\n")
	s.MustApply(t, b)
	s.wantLinks("b.service", "other.service")
	s.m.ResetEffects()
	if err := s.Apply(b); err != nil || s.m.Effects()["files"] != 0 {
		t.Errorf("the second run: effects %v, %v", s.m.Effects(), err)
	}
}

// TestC25: templates without an instance and generated units.
func TestC25TemplatesAndGenerated(t *testing.T) {
	template := "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
	generated := "/run/systemd/generator/minimal.service"
	s := newScene(t, memory.Options{Files: map[string]memory.File{
		"/usr/lib/systemd/system/tmpl@.service": {Content: template}, generated: {Content: wanted},
	}})
	faults := blocktest.Faults(Type(), "name = \"own@.service\"\nenable = true\ncontent = <<-EOT\n"+template+"EOT\n")
	if !strings.Contains(faults, "Instance name needed") {
		t.Errorf("faults: %s", faults)
	}
	s.complains(s.step("name = \"tmpl@.service\"\nenable = true\n"), "instance name is needed")
	s.complains(s.step("name = \"minimal.service\"\nenable = true\n"), "generated unit: enable is set by its source file")

	b := s.step("name = \"tmpl@b.service\"\nenable = true\nstate = \"started\"\n")
	s.MustApply(t, b)
	s.wantLinks("tmpl@b.service", "multi-user.target.wants/tmpl@b.service")
	s.MustApply(t, s.step("name = \"minimal.service\"\nstate = \"started\"\n"))
	if !s.unit("minimal.service").Running() || !s.unit("tmpl@b.service").Running() {
		t.Error("they do not run")
	}
}

// TestInstallChanges: old links go, new ones come, also when a run was cut
// short between.
func TestInstallChanges(t *testing.T) {
	body := func(install string) string {
		return "name = \"t@.service\"\nenable = true\ncontent = \"[Service]\\nExecStart=/x\\n[Install]\\n" + install + "\"\n"
	}
	s := newScene(t, memory.Options{})
	s.MustApply(t, s.step(body(`WantedBy=multi-user.target\nDefaultInstance=one\nAlias=u@.service\n`)))
	s.wantLinks("t@.service", "multi-user.target.wants/t@one.service", "u@.service")
	change := s.MustCheck(t, s.step(body(`RequiredBy=multi-user.target\nDefaultInstance=two\n`)))
	if last := change.Diffs[len(change.Diffs)-1].Note; !strings.Contains(last, "remove ") {
		t.Errorf("note %q", last)
	}
	s.MustApply(t, s.step(body(`RequiredBy=multi-user.target\nDefaultInstance=two\n`)))
	s.wantLinks("t@.service", "multi-user.target.requires/t@two.service")
	if _, err := host.Lstat(s.Host.Files, unitfile.EtcDir+"/multi-user.target.wants/t@one.service"); !host.Absent(err) {
		t.Errorf("the old instance's link is still there: %v", err)
	}
}

// TestForeignLinksStay: enabling a foreign unit adds what is missing and leaves
// links that others made.
func TestForeignLinksStay(t *testing.T) {
	s := newScene(t, withForeign(false))
	extra := unitfile.EtcDir + "/other.target.wants/f.service"
	if err := unitfile.Carry(s.Host.Files, []unitfile.LinkOp{{Path: extra, Target: foreign}}); err != nil {
		t.Fatal(err)
	}
	step := s.step("name = \"f.service\"\nenable = true\n")
	s.MustApply(t, step)
	s.wantLinks("f.service", "multi-user.target.wants/f.service", "other.target.wants/f.service")
	s.MustReset(t, step)
	s.wantLinks("f.service", "other.target.wants/f.service")

	drop := s.step("name = \"f.service\"\nenable = true\ndrop_in \"10-x.conf\" {\n content = \"[Install]\\nWantedBy=\\nWantedBy=new.target\\n\"\n}\n")
	s.MustApply(t, step)
	s.MustApply(t, drop)
	s.wantLinks("f.service", "new.target.wants/f.service", "other.target.wants/f.service")
}

func TestMask(t *testing.T) {
	s := newScene(t, memory.Options{Units: []memory.Unit{{Name: "f.service", Content: wanted, Running: true, Enabled: true}}})
	mask := s.step("name = \"f.service\"\nmask = true\nstate = \"stopped\"\n")
	s.MustApply(t, mask)
	if u := s.unit("f.service"); u.LoadState != "masked" || u.Running() {
		t.Errorf("%s, %s", u.LoadState, u.ActiveState)
	}
	s.wantLinks("f.service", "f.service", "multi-user.target.wants/f.service")
	s.complains(s.step("name = \"f.service\"\nenable = true\n"), "mask = false")
	s.complains(s.step("name = \"f.service\"\nstate = \"started\"\n"), "mask = false")
	s.MustReset(t, mask)
	if u := s.unit("f.service"); !u.Running() {
		t.Errorf("reset left it %s, %s", u.LoadState, u.ActiveState)
	}

	s.MustApply(t, mask)
	open := s.step("name = \"f.service\"\nmask = false\nenable = true\nstate = \"started\"\n")
	s.MustApply(t, open)
	if !s.unit("f.service").Running() {
		t.Error("it does not run after the mask is gone")
	}
	s.write(unitfile.EtcDir+"/f.service", plain)
	s.complains(mask, "stands where the mask would")
}

// TestOwnContentOverMask: a mask in the place of our own file is drift.
func TestOwnContentOverMask(t *testing.T) {
	s := newScene(t, memory.Options{})
	step := s.step("name = \"a.service\"\nstate = \"started\"\nenable = true\n" + heredoc)
	s.MustApply(t, step)
	if err := host.Symlink(s.Host.Files, unitfile.MaskTarget, ownUnit); err != nil {
		t.Fatal(err)
	}
	change := s.MustCheck(t, step)
	if !change.Bytes || !strings.Contains(change.Diffs[0].Note, "a link to /dev/null -> a file") {
		t.Errorf("change %+v", change)
	}
	s.MustApply(t, step)
}

func TestAlias(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{
		"/usr/lib/systemd/system/real.service": {Content: wanted}, "/usr/lib/systemd/system/al.service": {Link: "real.service"},
	}})
	s.complains(s.step("name = \"al.service\"\n"+heredoc), "alias of real.service")
	step := s.step("name = \"al.service\"\nenable = true\nstate = \"started\"\n")
	s.MustApply(t, step)
	s.wantLinks("real.service", "multi-user.target.wants/real.service")
	if !s.unit("real.service").Running() {
		t.Error("the real unit does not run")
	}
	s.MustReset(t, step)
	s.wantLinks("real.service")
}

func TestStatic(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{foreign: {Content: plain}}})
	s.MustApply(t, s.step("name = \"f.service\"\nstate = \"started\"\nenable = false\n"))
	if !s.unit("f.service").Running() {
		t.Error("a static unit can be started")
	}
}

func TestOffline(t *testing.T) {
	s := newScene(t, memory.Options{Offline: true, Units: []memory.Unit{{Name: "f.service", Content: wanted}}})
	step := s.step("name = \"a.service\"\nenable = true\nstate = \"started\"\n" + heredoc)
	s.MustApply(t, step)
	s.wantLinks("a.service", "multi-user.target.wants/a.service")
	change := s.MustCheck(t, step)
	if change.Needed() || !slices.Equal(change.Deferred, []string{"a.service is started at boot"}) {
		t.Errorf("change %+v", change)
	}
	change = s.MustCheck(t, s.step("name = \"f.service\"\nstate = \"started\"\n"))
	if change.Needed() || len(change.Deferred) != 1 || !strings.Contains(change.Deferred[0], "first run") {
		t.Errorf("change %+v", change)
	}
	s.MustApply(t, s.step("name = \"f.service\"\nmask = true\nstate = \"stopped\"\n"))
	s.complains(s.step("name = \"f.service\"\nstate = \"started\"\n"), "masked")
	s.MustReset(t, step)
	s.wantLinks("a.service")
}

func TestWants(t *testing.T) {
	want := func(body string) map[thing.Key]*thing.State {
		states := map[thing.Key]*thing.State{}
		for _, o := range blocktest.Step(t, Type(), "name = \"a.service\"\n"+body).Owns() {
			states[o.Key()] = o.Want
		}
		return states
	}
	enabled := want("enable = true\nstate = \"started\"\n" + heredoc)
	links := map[string]string{unitfile.EtcDir + "/multi-user.target.wants/a.service": ownUnit}
	if s := enabled["unit-enabled:a.service"]; s == nil || s.Value != thing.Enabled || !maps.Equal(s.Links, links) {
		t.Errorf("enabled: %+v", s)
	}
	if s := enabled["unit-active:a.service"]; s == nil || s.Value != thing.Active {
		t.Errorf("active: %+v", s)
	}
	off := want("enable = false\nmask = true\nstate = \"stopped\"\n")
	if s := off["unit-enabled:a.service"]; s == nil || s.Value != thing.Masked || len(s.Links) != 1 {
		t.Errorf("masked: %+v", s)
	}
	if s := off["unit-active:a.service"]; s == nil || s.Kind != thing.Absent {
		t.Errorf("inactive: %+v", s)
	}
	if s := want("enable = false\n")["unit-enabled:a.service"]; s == nil || s.Kind != thing.Absent {
		t.Errorf("disabled: %+v", s)
	}
	unsure := want("enable = true\nstate = \"started\"\nstart_unless {\n machines = [\"m\"]\n}\n")
	if unsure["unit-enabled:a.service"] != nil || unsure["unit-active:a.service"] != nil {
		t.Errorf("what only the host tells: %+v", unsure)
	}
}
