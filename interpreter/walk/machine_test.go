package walk_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

func machineHost(t testing.TB) memory.Options {
	return memory.Options{Executables: []string{"machinectl"}, Files: map[string]memory.File{"/srv/one.tar": {Content: image(t)}}}
}

// worker is a machine with a file before boot, and two services inside that
// watch their own files.
func worker(before, containerd, kubelet string) string {
	unit := func(name, conf string) string {
		return file(name, "/etc/"+name+".conf", conf, "") + `
      systemd_unit "` + name + `.service" {
        content = "[Service]\nExecStart=/usr/bin/sleep infinity\n"
        state   = "started"
      }
`
	}
	return `
nspawn_machine "kube1" {
  rootfs {
    image    = "/srv/one.tar"
    platform = "linux/amd64"
  }
  before_boot {
` + file("hostname", "/etc/hostname", before, "") + file("shipped", "/etc/shipped.conf", before, "") + `
  }
  after_boot {
` + unit("containerd", containerd) + unit("kubelet", kubelet) + `
      restart_on_change "containerd.service" { watch = [write_file_if_changed.containerd, systemd_unit["containerd.service"]] }
      restart_on_change "kubelet.service" { watch = [write_file_if_changed.kubelet, systemd_unit["kubelet.service"]] }
  }
}
`
}

func (s *scene) inside() host.Host {
	s.Helper()
	h, err := s.Host().Machines.Host(background, "kube1")
	s.ok(err)
	return h
}

func (s *scene) leader() int {
	s.Helper()
	all, err := s.Host().Machines.Registered(background)
	s.ok(err)
	if len(all) != 1 || !all[0].Alive {
		s.Fatalf("machines %+v", all)
	}
	return all[0].Leader
}

// TestMachine: files come before the boot, services after it, and a machine
// that was not running before gets no restart on top (R071).
func TestMachineOrder(t *testing.T) {
	s := newScene(t, machineHost(t))
	body := worker("w1", "c1", "k1")
	s.drive(body)
	boot := s.place("unit start", "systemd-nspawn@kube1.service")
	file := slices.IndexFunc(s.plan.Log(), func(e fault.Effect) bool {
		return e.Kind == "rename" && strings.HasSuffix(e.Name, ".hostname.hostler-tmp")
	})
	start := slices.IndexFunc(s.plan.Log(), func(e fault.Effect) bool { return e.Machine == "kube1" && e.Kind == "unit start" })
	if file < 0 || file > boot || start < boot {
		t.Errorf("file at %d, boot at %d, start inside at %d", file, boot, start)
	}
	for _, job := range s.jobs() {
		if strings.HasPrefix(job, "restart") {
			t.Errorf("job %q", job)
		}
	}
	if b := s.rec.Machines["nspawn_machine.kube1"]; b.Active != "kube1" || b.Digest == "" {
		t.Errorf("built %+v", b)
	}
	leader := s.leader()
	if result := s.drive(body); result.Changed != 0 || s.leader() != leader { // R067
		t.Errorf("a second run changes %v", s.did())
	}
}

// TestR069R070Inside: with the machine running, only what watches a changed
// file is restarted, containerd before kubelet, and the machine goes on.
func TestR069R070Inside(t *testing.T) {
	s := newScene(t, machineHost(t))
	s.drive(worker("w", "c1", "k1"))
	leader := s.leader()
	s.drive(worker("w", "c1", "k2"))
	s.list(s.jobs(), "restart kubelet.service")
	s.drive(worker("w", "c2", "k3"))
	s.list(s.jobs(), "restart containerd.service", "restart kubelet.service")
	s.ok(s.inside().Files.Chmod("/etc/kubelet.conf", 0o600)) // H10
	s.drive(worker("w", "c2", "k3"))
	s.list(s.jobs())
	s.drive(worker("w2", "c2", "k3")) // before_boot converges while it runs
	s.list(s.jobs())
	s.want("/var/lib/machines/kube1/etc/hostname", "w2")
	if s.leader() != leader {
		t.Error("the machine was restarted")
	}
}

// TestWatchesBeforeBoot: a restart inside may watch what is written before the
// boot, and a run that begins while the machine is down sees its services when
// it is up.
func TestWatchesBeforeBoot(t *testing.T) {
	body := func(v string) string {
		return strings.ReplaceAll(worker(v, "c", "k"), "[write_file_if_changed.kubelet,", "[write_file_if_changed.hostname, write_file_if_changed.kubelet,")
	}
	s := newScene(t, machineHost(t))
	s.drive(body("w1"))
	s.drive(body("w2"))
	s.list(s.jobs(), "restart kubelet.service")
	s.ok(s.Host().Units.Run(background, host.JobStop, "systemd-nspawn@kube1.service"))
	s.drive(body("w3"))
	for _, name := range []string{"containerd.service", "kubelet.service"} {
		if u, err := s.inside().Units.Unit(background, name); err != nil || !u.Running() {
			t.Errorf("%s: %v, %v", name, u.ActiveState, err)
		}
	}
	if slices.Contains(s.jobs(), "restart kubelet.service") {
		t.Errorf("jobs %v", s.jobs())
	}
}

// TestDebtsInside: a restart inside a machine that a run did not come to is
// made by the next; a machine that was started since owes nothing.
func TestDebtsInside(t *testing.T) {
	fails := func(s *scene) {
		s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return strings.HasSuffix(e.Name, "/.kubelet.conf.hostler-tmp") })
		s.fails(worker("w", "c2", "k2"))
		if d := s.debts(); len(d) != 1 || d[0].Machine != "kube1" || d[0].Unit != "containerd.service" {
			s.Fatalf("debts %+v", d)
		}
		s.restart()
	}
	t.Run("paid", func(t *testing.T) {
		s := newScene(t, machineHost(t))
		s.drive(worker("w", "c1", "k1"))
		fails(s)
		s.drive(worker("w", "c2", "k2"))
		s.list(s.jobs(), "restart containerd.service", "restart kubelet.service")
	})
	t.Run("void", func(t *testing.T) {
		s := newScene(t, machineHost(t))
		s.drive(worker("w", "c1", "k1"))
		fails(s)
		s.ok(s.Host().Units.Run(background, host.JobStop, "systemd-nspawn@kube1.service"))
		s.drive(worker("w", "c2", "k2"))
		if slices.Contains(s.jobs(), "restart containerd.service") || len(s.debts()) > 0 {
			t.Errorf("jobs %v, debts %v", s.jobs(), s.debts())
		}
	})
}

// TestClaimsInside: what is inside falls with the machine that is ours; what
// the image shipped comes back when its step alone goes.
func TestClaimsInside(t *testing.T) {
	s := newScene(t, machineHost(t))
	before := s.Snapshot("/run", record.Dir)
	s.drive(worker("w", "c", "k"))
	if o := s.rec.Claim("machine:kube1/path:/etc/shipped.conf").Origin; o.Kind != thing.OriginSaved {
		t.Errorf("origin %+v", o)
	}
	s.drive(strings.ReplaceAll(worker("w", "c", "k"), file("shipped", "/etc/shipped.conf", "w", ""), ""))
	s.want("/var/lib/machines/kube1/etc/shipped.conf", "shipped\n")
	s.mustReset()
	for _, done := range s.did() {
		if strings.Contains(done, "machine:kube1/") {
			t.Errorf("undone by itself: %s", done)
		}
	}
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("left: %v", diff)
	}
}

// TestRenamedMachine: what is known of a machine goes with it when its step has
// another label.
func TestRenamedMachine(t *testing.T) {
	s := newScene(t, machineHost(t))
	s.drive(worker("w", "c", "k"))
	leader := s.leader()
	s.restart()
	s.drive(strings.Replace(worker("w", "c", "k"), "nspawn_machine \"kube1\" {", "nspawn_machine \"other\" {\n name = \"kube1\"", 1))
	s.list(s.did())
	if s.leader() != leader || s.rec.Machines["nspawn_machine.other"].Digest == "" || len(s.rec.Machines) != 1 {
		t.Errorf("machines %+v", s.rec.Machines)
	}
}

// TestPlanOfAMachine: a machine whose image is not unpacked is foreseen, and
// what is inside is unknown.
func TestPlanOfAMachine(t *testing.T) {
	s := newScene(t, machineHost(t))
	s.foresee(worker("w", "c", "k"))
	did := s.did()
	if did[0] != "create nspawn_machine.kube1" || !slices.Contains(did, "run nspawn_machine.kube1") || !slices.Contains(did, "unknown nspawn_machine.kube1.write_file_if_changed.hostname") {
		t.Errorf("foreseen %q", did)
	}
}

// TestSlotsAreTold: steps learn which machines the recipe stands for, and what
// they were built from.
func TestSlotsAreTold(t *testing.T) {
	s := newScene(t, machineHost(t))
	var look block.Look
	a, _ := once()
	s.extra = []*block.Type{a.blockType()}
	s.extra[0].New = lookingAt(a, &look)
	s.drive(strings.Replace(worker("w", "c", "k"), "nspawn_machine \"kube1\" {", "nspawn_machine \"node\" {\n slots = [\"kube1\", \"kube2\"]", 1) + "act \"a\" {}\n")
	if got := look.Slots["node"]; !slices.Equal(got, []string{"kube1", "kube2"}) {
		t.Errorf("slots %v", look.Slots)
	}
	if look.Cache != record.CacheDir || look.Installed != "installing" || look.Keyed == nil {
		t.Errorf("look %+v", look)
	}
}

// TestInventoryFails: an inventory that fails is an error and never "none".
func TestInventoryFails(t *testing.T) {
	s := newScene(t, machineHost(t))
	s.Refuse(memory.CallRegistered, errors.New("machined does not answer"))
	s.fails(worker("w", "c", "k"), "machined does not answer")
}
