package walk_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// TestOnDrift: what was changed behind our back is repaired, reported or held,
// and a change of the recipe is no drift.
func TestOnDrift(t *testing.T) {
	lost := thing.Digest([]byte("edited"))
	for name, c := range map[string]struct {
		policy, edit, next string
		// want is what the file holds then, did what the step did.
		want, did string
		drift     bool
		warns     string
		held      bool
	}{
		"repair":                         {policy: "repair", edit: "edited", next: "one", want: "one", did: "update", drift: true},
		"the default repairs":            {edit: "edited", next: "one", want: "one", did: "update", drift: true},
		"report":                         {policy: "report", edit: "edited", next: "one", want: "edited", drift: true, warns: "Changed behind our back"},
		"hold":                           {policy: "hold", edit: "edited", next: "one", want: "edited", drift: true, held: true},
		"hold, removed":                  {policy: "hold", edit: "-", next: "one", want: "(absent)", drift: true, held: true},
		"repair, recipe changed":         {policy: "repair", next: "two", want: "two", did: "update"},
		"report, recipe changed":         {policy: "report", next: "two", want: "two", did: "update"},
		"hold, recipe changed":           {policy: "hold", next: "two", want: "two", did: "update"},
		"repair, both changed":           {policy: "repair", edit: "edited", next: "two", want: "two", did: "update", drift: true, warns: lost},
		"report, both changed":           {policy: "report", edit: "edited", next: "two", want: "two", did: "update", drift: true, warns: lost},
		"hold, both changed":             {policy: "hold", edit: "edited", next: "two", want: "edited", drift: true, held: true},
		"edited to what the recipe says": {policy: "hold", edit: "two", next: "two", want: "two"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{})
			more := "on_drift = \"" + c.policy + "\"\n"
			if c.policy == "" {
				more = ""
			}
			s.drive(file("a", "/etc/a", "one", more))
			switch c.edit {
			case "":
			case "-":
				s.ok(s.Host().Files.Remove("/etc/a"))
			default:
				s.put("/etc/a", c.edit)
			}
			result, err := s.try(file("a", "/etc/a", c.next, more) + file("z", "/etc/z", "later", ""))
			s.want("/etc/a", c.want)
			if len(result.Drift) > 0 != c.drift {
				t.Errorf("drift %v", result.Drift)
			}
			if held, ok := errors.AsType[*walk.HeldError](err); ok != c.held || c.held && held.Things[0] != "path:/etc/a" {
				t.Errorf("error %v", err)
			}
			if !c.held {
				s.ok(err)
			}
			if later := s.read("/etc/z"); (later == "later") == c.held {
				t.Errorf("the later step: %q", later)
			}
			if !c.held && c.did != "" {
				s.list(s.did(), c.did+" write_file_if_changed.a", "create write_file_if_changed.z")
			}
			if warned := strings.Join(s.warned(), "; "); c.warns == "" && warned != "" || !strings.Contains(warned, c.warns) {
				t.Errorf("warnings %q, want %q", warned, c.warns)
			}
			if !c.held { // the same again
				again, err := s.try(file("a", "/etc/a", c.next, more) + file("z", "/etc/z", "later", ""))
				s.ok(err)
				if again.Changed > 0 {
					t.Errorf("a second run changes %v", s.did())
				}
			}
		})
	}
}

// TestDriftOfAStepWithManyThings: where the recipe changed any of a step's
// things, an edit of another is written over and named.
func TestDriftOfAStepWithManyThings(t *testing.T) {
	unit := func(enable string) string {
		return "systemd_unit \"a.service\" {\n content = \"[Service]\\nExecStart=/usr/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n\"\n on_drift = \"report\"\n" + enable + "}\n"
	}
	s := newScene(t, memory.Options{})
	s.drive(unit(""))
	s.put("/etc/systemd/system/a.service", "[Service]\nExecStart=/usr/bin/true\n")
	if result := s.drive(unit("")); len(result.Drift) != 1 || result.Changed != 0 || result.Unchanged != 1 {
		t.Errorf("result %+v", result)
	}
	s.drive(unit("enable = true\n"))
	if !strings.Contains(s.read("/etc/systemd/system/a.service"), "sleep") || !strings.Contains(strings.Join(s.warned(), ""), "Edited content lost") {
		t.Errorf("unit file %q, warnings %q", s.read("/etc/systemd/system/a.service"), s.warned())
	}
	s.Reboot()
	if s.unit("a.service").ActiveState != "active" {
		t.Error("it was not enabled")
	}
}

// TestDriftOfMode: a mode that the recipe changes is written where the content
// was edited, too.
func TestDriftOfMode(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "one", "on_drift = \"report\"\n"))
	s.put("/etc/a", "edited")
	s.drive(file("a", "/etc/a", "one", "on_drift = \"report\"\nmode = \"0600\"\n"))
	s.want("/etc/a", "one")
	if s.mode("/etc/a") != "0600" {
		t.Errorf("mode %s", s.mode("/etc/a"))
	}
}

// TestUnfinishedIsNoDrift: what an attempt that was cut short left of a unit is
// not held against the next one.
func TestUnfinishedIsNoDrift(t *testing.T) {
	body := func(v string) string {
		return strings.ReplaceAll(service("a.service", v, ""), "state   = \"started\"", "state = \"started\"\n enable = true\n on_drift = \"hold\"")
	}
	clean := newScene(t, memory.Options{})
	clean.drive(body("1"))
	clean.drive(strings.ReplaceAll(body("2"), "multi-user", "network"))
	for n := range clean.plan.Log() {
		s := newScene(t, memory.Options{})
		s.drive(body("1"))
		s.plan = fault.CrashAt(n + 1)
		fault.Recover(func() { _, _ = s.try(strings.ReplaceAll(body("2"), "multi-user", "network")) })
		s.Crash()
		s.restart()
		if s.rec.Phase = "installing"; len(s.rec.Claims) == 0 {
			continue
		}
		s.earlier = s.steps(strings.ReplaceAll(body("2"), "multi-user", "network"))
		if _, err := s.try(strings.ReplaceAll(body("3"), "multi-user", "network")); err != nil {
			t.Fatalf("crash at %s: %v", clean.plan.Log()[n], err)
		}
	}
}

// TestSurvey: where drift is only looked for, a step that says hold does not
// stop the walk.
func TestSurvey(t *testing.T) {
	s := newScene(t, memory.Options{})
	body := file("a", "/etc/a", "1", "on_drift = \"hold\"\n") + file("b", "/etc/b", "1", "")
	s.drive(body)
	s.put("/etc/a", "edited")
	s.put("/etc/b", "edited")
	s.tune = func(in *walk.Input) { in.Survey = true }
	if result := s.drive(body); len(result.Drift) != 2 || result.Drift[0].Policy != block.DriftHold {
		t.Errorf("drift %v", result.Drift)
	}
}

// TestDriftCannotBeTold: a look that fails is an error and not "no drift".
func TestDriftCannotBeTold(t *testing.T) {
	s := newScene(t, memory.Options{})
	body := file("a", "/etc/a", "1", "")
	s.drive(body)
	s.put("/etc/a", "edited")
	looks := 0
	s.wrap = func(h host.Host) host.Host {
		h.Files = lstats{h.Files, func(name string) error {
			if name != "/etc/a" {
				return nil
			}
			if looks++; looks > 1 { // the step's own look is the first
				return syscall.EIO
			}
			return nil
		}}
		return h
	}
	s.fails(body, "/etc/a", "input/output error")
	s.want("/etc/a", "edited")
}
