package interpreter_test

import (
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host/memory"
)

// TestAUnitThatIsGoneIsNotStartedAgain: what brought a unit that ran before us
// was removed meanwhile. The reset says so and goes on.
func TestAUnitThatIsGoneIsNotStartedAgain(t *testing.T) {
	r := newRig(t, memory.Options{Units: []memory.Unit{{Name: "noise.service", Running: true}, {Name: "quiet.service", Running: true}}})
	r.must(apply, a(`systemd_unit "noise.service" { state = "stopped" }
systemd_unit "quiet.service" { state = "stopped" }`))
	r.remove("/usr/lib/systemd/system/noise.service")
	r.ok(r.Host().Units.Reload(t.Context()))
	if out := r.must(reset, nothing); out.Phase != "absent" {
		t.Errorf("the phase is %s", out.Phase)
	}
	if !slices.ContainsFunc(r.warned(), func(w string) bool { return strings.Contains(w, "there is no such unit any more") }) {
		t.Errorf("warnings: %q", r.warned())
	}
	if u := r.unit("quiet.service"); u.ActiveState != "active" {
		t.Errorf("quiet.service is %s", u.ActiveState)
	}
}

// TestPlanOfWaits: what is waited for cannot come about in a plan, which takes
// it that it will.
func TestPlanOfWaits(t *testing.T) {
	r := newRig(t, memory.Options{Files: map[string]memory.File{"/srv/one.tar": {Content: image(t, nil)}}})
	recipe := a(`systemd_unit "ours.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n"
  state   = "started"
  restart = "never"
}
wait_for "file" { file = "/run/ours.sock" }
wait_for "address" { address = "127.0.0.1:7777" }
wait_for "command" { command = ["true"] }
nspawn_machine "m" {
  rootfs {
    image    = "/srv/one.tar"
    platform = "linux/amd64"
  }
  after_boot {
    wait_for "file" { file = "/var/lib/ours" }
    wait_for "socket" { file = "/run/ours.sock" }
    wait_for "unit" { unit = "ours.service" }
  }
  ready { file = "/var/lib/kubelet/kubeconfig" }
  ready { unit = "multi-user.target" }
  ready { command = ["true"] }
}`)
	r.must(plan, recipe)
	if planned := r.Changed(); !slices.Contains(planned, "run wait_for.file") || !slices.Contains(planned, "run nspawn_machine.m") {
		t.Errorf("the plan is %q", planned)
	}
	machine := "nspawn_machine \"m\" {\n rootfs {\n  image = \"/srv/one.tar\"\n  platform = \"linux/amd64\"\n }\n"
	r.must(apply, a(machine+"}"))
	r.must(plan, a(machine+" ready { file = \"/var/lib/late\" }\n}"))
	if planned := r.Changed(); !slices.Equal(planned, []string{"run nspawn_machine.m"}) {
		t.Errorf("the plan for the machine that runs is %q", planned)
	}
}

// TestAWaitThatIsOverChangesNothing: a command that says at once that there is
// nothing to wait for leaves no trace.
func TestAWaitThatIsOverChangesNothing(t *testing.T) {
	r := newRig(t, memory.Options{Executables: []string{"true"}})
	recipe := a(`wait_for "command" { command = ["true"] }
directory "d" { path = "/srv/d" }`)
	r.must(apply, recipe)
	inode := r.inode("/var/lib/hostler/record.json")
	for _, do := range []verb{apply, ensure} {
		out := r.must(do, recipe)
		if out.Changed != 0 || r.inode("/var/lib/hostler/record.json") != inode {
			t.Errorf("%d changed, the record is %d, was %d", out.Changed, r.inode("/var/lib/hostler/record.json"), inode)
		}
	}
}

// TestAWaitSaysWhatDidNotComeAbout: the time that it is given is its own, and no
// other bound cuts the words off.
func TestAWaitSaysWhatDidNotComeAbout(t *testing.T) {
	r := newRig(t, memory.Options{})
	_, err := r.run(apply, a(`wait_for "file" {
  file     = "/run/never"
  timeout  = "2s"
  interval = "300ms"
}`))
	if err == nil || !strings.HasSuffix(err.Error(), "file /run/never: not ready after 2s: it is not there") {
		t.Errorf("error %v", err)
	}
}
