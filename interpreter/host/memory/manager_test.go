package memory_test

import (
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestTiedUnits(t *testing.T) {
	b := unitBox(t, map[string]string{
		"base.service":  service,
		"needs.service": "[Unit]\nRequires=base.service\nAfter=base.service\n" + service,
		"part.service":  "[Unit]\nPartOf=base.service\n" + service,
		"enemy.service": "[Unit]\nConflicts=base.service\n" + service,
		"x.socket":      "[Socket]\n", "x.timer": "[Timer]\n", "x.mount": "[Mount]\n",
	})
	b.run(host.JobStart, "needs.service")
	b.run(host.JobStart, "part.service")
	ids := map[string]string{}
	for _, name := range []string{"base.service", "needs.service", "part.service"} {
		ids[name] = b.unit(name).InvocationID
	}
	b.run(host.JobRestart, "base.service")
	for name, id := range ids {
		if u := b.unit(name); u.InvocationID == id || u.ActiveState != "active" {
			t.Errorf("%s was not restarted with base.service", name)
		}
	}
	b.run(host.JobStart, "enemy.service")
	for name := range ids {
		if b.state(name) != "inactive" {
			t.Errorf("%s runs beside its enemy", name)
		}
	}
	b.run(host.JobStart, "base.service")
	if b.state("enemy.service") != "inactive" {
		t.Error("a conflict counts one way only")
	}
	for name, sub := range map[string]string{"x.socket": "listening", "x.timer": "waiting", "x.mount": "mounted", "x.slice": "active"} {
		b.run(host.JobStart, name)
		if u := b.unit(name); u.SubState != sub || u.Type != "" || u.Result != "" {
			t.Errorf("%s is %+v", name, u)
		}
	}
}

func TestReloadOfUnits(t *testing.T) {
	b := unitBox(t, map[string]string{
		"a.service": service + "ExecReload=/bin/true\n", "b.service": service + "ExecReload=/bin/false\n",
	})
	if err := b.Units.Run(t.Context(), host.JobReload, "a.service"); err == nil {
		t.Error("an inactive unit can be reloaded")
	}
	b.run(host.JobStart, "a.service")
	b.run(host.JobStart, "b.service")
	b.run(host.JobReload, "a.service")
	if got := b.jobResult(host.JobReload, "b.service"); got != "failed" || b.state("b.service") != "active" {
		t.Errorf("a failing reload ends with %q", got)
	}
	b.is(b.Units.Run(t.Context(), host.JobReload, "none.service"), host.ErrNoUnit)
	b.is(b.Units.Run(t.Context(), host.JobTryRestart, "none.service"), host.ErrNoUnit)
	if err := b.Units.Run(t.Context(), "dance", "a.service"); err == nil {
		t.Error("an unknown verb is accepted")
	}
	for _, name := range []string{"", "a", ".service", "a/b.service", "a b.service", "a.conf"} {
		if _, err := b.Units.Unit(t.Context(), name); err == nil {
			t.Errorf("%q is taken for a unit's name", name)
		}
	}
}

func TestConditions(t *testing.T) {
	tests := map[string]bool{
		"ConditionPathExists=/etc/passwd":                               true,
		"ConditionPathExists=!/etc/passwd":                              false,
		"ConditionPathExists=/none":                                     false,
		"ConditionPathExists=|/none\nConditionPathExists=|/etc/passwd":  true,
		"ConditionPathExists=|/none\nConditionPathExists=|!/etc/passwd": false,
		"ConditionPathIsDirectory=/etc":                                 true,
		"ConditionPathIsDirectory=/etc/passwd":                          false,
		"ConditionPathIsSymbolicLink=/bin":                              true,
		"ConditionPathIsSymbolicLink=/etc":                              false,
		"ConditionFileNotEmpty=/etc/passwd":                             true,
		"ConditionFileNotEmpty=/bin/true":                               false,
		"ConditionFileIsExecutable=/bin/true":                           true,
		"ConditionFileIsExecutable=/etc/passwd":                         false,
		"ConditionDirectoryNotEmpty=/etc":                               true,
		"ConditionDirectoryNotEmpty=/mnt":                               false,
		"ConditionPathIsMountPoint=/run":                                true,
		"ConditionPathIsMountPoint=/etc":                                false,
		"ConditionVirtualization=vm":                                    true,
	}
	for condition, want := range tests {
		b := unitBox(t, map[string]string{"a.service": "[Unit]\n" + condition + "\n" + service})
		b.run(host.JobStart, "a.service")
		if got := b.unit("a.service").ConditionResult; got != want {
			t.Errorf("%s: ConditionResult %v, want %v", condition, got, want)
		}
		if got := b.state("a.service") == "active"; got != want {
			t.Errorf("%s: started %v, want %v", condition, got, want)
		}
	}
}

func TestACircleOfUnitsStillStarts(t *testing.T) {
	b := unitBox(t, map[string]string{
		"a.service": "[Unit]\nAfter=b.service\nWants=b.service\n" + service, "b.service": "[Unit]\nAfter=a.service\nWants=a.service\n" + service,
	})
	b.run(host.JobStart, "a.service")
	b.Advance(time.Second)
	if b.state("a.service") != "active" || b.state("b.service") != "active" {
		t.Error("units that wait for each other never start")
	}
}

func TestUnitsAreForgotten(t *testing.T) {
	b := unitBox(t, map[string]string{"a.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n"})
	b.run(host.JobStart, "a.service")
	if u := b.unit("a.service"); u.InactiveExit != 0 {
		t.Error("an inactive unit to which nothing refers is remembered")
	}
	b.put(etc+"a.service", "[Service]\nType=oneshot\nExecStart=/bin/true\nRemainAfterExit=yes\n")
	b.run(host.JobStart, "a.service") // its file is read anew
	if b.state("a.service") != "active" {
		t.Error("a unit that was forgotten is not read anew")
	}
}

func TestAliasThatBecomesOne(t *testing.T) {
	b := unitBox(t, map[string]string{"a.service": service, "b.service": service, "t@.service": service, "e.service": service})
	b.ok(b.Files.SymlinkIfPossible("t@.service", etc+"u@.service"))
	b.run(host.JobStart, "a.service")
	b.ok(b.Files.Remove(etc + "a.service"))
	b.ok(b.Files.SymlinkIfPossible("b.service", etc+"a.service"))
	b.ok(b.Units.Reload(t.Context()))
	if u := b.unit("a.service"); u.Name != "b.service" || u.ActiveState != "active" {
		t.Errorf("a running unit that became an alias is %+v", u)
	}
	if u := b.unit("u@x.service"); u.Name != "t@x.service" {
		t.Errorf("an instance of an alias is %q", u.Name)
	}
	b.ok(b.Files.Remove(etc + "b.service"))
	b.ok(b.Files.SymlinkIfPossible("a.service", etc+"b.service"))
	if u := b.unit("e.service"); u.LoadState != "loaded" {
		t.Errorf("e.service is %+v", u)
	}
	b.run(host.JobStop, "b.service")
	b.ok(b.Units.Reload(t.Context()))
	if u := b.unit("b.service"); u.LoadState != "not-found" {
		t.Errorf("aliases in a circle are %+v", u)
	}
}

func TestScriptGoesBackToTheFile(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service"}}})
	b.SetScript("a.service", func(int) memory.Outcome { return memory.Outcome{Ends: true, Status: 1} })
	b.run(host.JobStart, "a.service")
	b.Advance(time.Second)
	if b.state("a.service") != "failed" {
		t.Error("the script does not count")
	}
	b.SetScript("a.service", nil)
	b.run(host.JobStart, "a.service")
	b.Advance(time.Second)
	if b.state("a.service") != "active" {
		t.Error("the script still counts")
	}
}

func TestOddUnitFiles(t *testing.T) {
	two := "[Service]\nExecStart=/bin/true\nExecStart=/bin/true\n"
	tests := map[string]struct {
		content, state string
		result         host.JobResult
	}{
		"two commands":           {two, "bad-setting", ""},
		"two commands, oneshot":  {two + "Type=oneshot\n", "loaded", "done"},
		"only ExecStop":          {"[Service]\nExecStop=/bin/true\n", "loaded", "done"},
		"simple without a start": {"[Service]\nType=simple\nExecStop=/bin/true\n", "bad-setting", ""},
		"is a directory":         {"dir", "error", ""},
		"escaped instance":       {"[Unit]\nConditionPathExists=/%I\n" + service, "loaded", "done"},
		"never limited":          {"[Unit]\nStartLimitBurst=0\n[Service]\nExecStart=/bin/true\nTimeoutStartSec=nonsense\n", "loaded", "done"},
		"minutes":                {"[Service]\nType=oneshot\nExecStart=/bin/sleep 70\nTimeoutStartSec=2min\n", "loaded", "done"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]memory.File{etc + `a@etc-my\x2dapp.service`: {Content: tt.content}, "/etc/my-app": {}}
			if tt.content == "dir" {
				files = map[string]memory.File{etc + `a@etc-my\x2dapp.service`: {Dir: true}}
			}
			b := newBox(t, memory.Options{Files: files})
			u := b.unit(`a@etc-my\x2dapp.service`)
			if u.LoadState != tt.state || (u.LoadError == "") != (tt.state == "loaded") {
				t.Fatalf("loaded as %q (%s), want %q", u.LoadState, u.LoadError, tt.state)
			}
			err := b.Units.Run(t.Context(), host.JobStart, u.Name)
			if (err == nil) != (tt.result == "done") {
				t.Errorf("the start: %v", err)
			}
			if name == "escaped instance" && b.state(u.Name) != "active" {
				t.Error("the escaped instance is not the path")
			}
		})
	}
}

// A condition or assertion that fails at an automatic restart ends it.
func TestAutomaticRestartMeetsACondition(t *testing.T) {
	for _, kind := range []string{"Condition", "Assert"} {
		b := unitBox(t, map[string]string{
			"a.service":    "[Unit]\n" + kind + "PathExists=/etc/flag\n[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=1\n",
			"keep.service": "[Unit]\nAfter=a.service\n" + service,
		})
		b.run(host.JobStart, "keep.service")
		b.put("/etc/flag", "")
		b.run(host.JobStart, "a.service")
		b.ok(b.Files.Remove("/etc/flag"))
		b.Advance(time.Minute)
		if u := b.unit("a.service"); u.ActiveState != "inactive" || u.ConditionChecked == 0 {
			t.Errorf("%s: after the restart the unit is %+v", kind, u)
		}
	}
}
