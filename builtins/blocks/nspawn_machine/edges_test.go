package nspawnmachine_test

import (
	"context"
	"strings"
	"testing"

	nspawnmachine "hostler/builtins/blocks/nspawn_machine"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// oddHost is a host of which some doors behave otherwise.
type oddUnits struct {
	host.Units
	run   func(host.JobVerb, string) error
	queue func(host.JobVerb, string) error
}

func (o oddUnits) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if o.run != nil {
		if err := o.run(verb, name); err != nil {
			return err
		}
	}
	return o.Units.Run(ctx, verb, name)
}

func (o oddUnits) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	if o.queue != nil {
		return o.queue(verb, name)
	}
	return o.Units.Queue(ctx, verb, name)
}

type oddMachines struct {
	host.Machines
	stale     *bool // a registration without a machine
	terminate func() error
	inside    *host.Host
}

func (o oddMachines) Registered(ctx context.Context) ([]host.MachineState, error) {
	all, err := o.Machines.Registered(ctx)
	if o.stale != nil && *o.stale {
		all = append(all, host.MachineState{Name: "kube1"})
	}
	return all, err
}

func (o oddMachines) Terminate(ctx context.Context, name string) error {
	if o.terminate != nil {
		return o.terminate()
	}
	if o.stale != nil {
		*o.stale = false
	}
	return o.Machines.Terminate(ctx, name)
}

func (o oddMachines) Host(ctx context.Context, name string) (host.Host, error) {
	if o.inside != nil {
		return *o.inside, nil
	}
	return o.Machines.Host(ctx, name)
}

// TestC35StartMeetsStaleRegistration: one that appears between looking and
// starting is cleared, and the start tried once more.
func TestC35StartMeetsStaleRegistration(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := body("/srv/one.tar", "")
	s.MustApply(t, part(t, "rootfs", text))
	stale, starts := false, 0
	s.Host.Machines = oddMachines{Machines: s.Host.Machines, stale: &stale}
	s.Host.Units = oddUnits{Units: s.Host.Units, run: func(verb host.JobVerb, name string) error {
		if starts++; starts == 1 {
			stale = true
			return &host.JobError{Unit: name, Verb: verb, Result: "failed"}
		}
		return nil
	}}
	s.MustApply(t, part(t, "boot", text))
	if starts != 2 || stale {
		t.Errorf("%d starts, stale %v", starts, stale)
	}
}

// TestStartFails: an error that has nothing to do with registrations is not
// tried again.
func TestStartFails(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", "")
	s.MustApply(t, part(t, "rootfs", text))
	m.FailJob(host.JobStart, thing.MachineUnit("kube1"), "dependency")
	err := s.Apply(part(t, "boot", text))
	if err == nil || !strings.Contains(err.Error(), "dependency") || !strings.Contains(err.Error(), "machine kube1") {
		t.Errorf("error %v", err)
	}
}

func TestNotResponsive(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := body("/srv/one.tar", `responsive_timeout = "3s"`)
	s.MustApply(t, part(t, "rootfs", text))
	deaf := memory.New(memory.Options{Offline: true}).Host()
	s.Host.Machines = oddMachines{Machines: s.Host.Machines, inside: &deaf}
	err := s.Apply(part(t, "boot", text))
	if err == nil || !strings.Contains(err.Error(), "does not answer within 3s") {
		t.Errorf("error %v", err)
	}
}

func TestNeverWaitsForItself(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := body("/srv/one.tar", "service {\n unit = { After = \"hostler.service\" }\n}")
	s.MustApply(t, part(t, "rootfs", text))
	if err := s.Host.Units.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	do := s.Do()
	do.OwnUnit = "hostler.service"
	err := part(t, "boot", text).Apply(context.Background(), do)
	if err == nil || !strings.Contains(err.Error(), "ordered after hostler.service") {
		t.Errorf("error %v", err)
	}
}

func TestMasked(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	unit := "/etc/systemd/system/" + thing.MachineUnit("kube1")
	if err := host.MakeParents(s.Host.Files, unit, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := host.Symlink(s.Host.Files, "/dev/null", unit); err != nil {
		t.Fatal(err)
	}
	if err := s.Host.Units.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	for phase, want := range map[string]string{"rootfs": "masked", "boot": "is masked"} {
		if _, err := s.Check(part(t, phase, body("/srv/one.tar", ""))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// TestC38MachineThatDoesNotGo: its tree is kept while anything of it is there,
// and a stop that hangs is escalated.
func TestC38MachineThatDoesNotGo(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", "")
	up(t, s, text)
	real := s.Host
	terminated := 0
	s.Host.Units = oddUnits{Units: real.Units, queue: func(host.JobVerb, string) error { return nil }}
	s.Host.Machines = oddMachines{Machines: real.Machines, terminate: func() error { terminated++; return nil }}
	err := s.Reset(part(t, "rootfs", text))
	if err == nil || !strings.Contains(err.Error(), "does not go away") || terminated != 2 {
		t.Errorf("error %v, terminated %d times", err, terminated)
	}
	if _, complete, _ := rootfs.Complete(real.Files, "kube1"); !complete {
		t.Error("the tree of a machine that lives was removed")
	}
	s.Host.Machines = real.Machines // now a termination helps
	s.MustReset(t, part(t, "rootfs", text))
	if _, err := host.Lstat(real.Files, "/var/lib/machines/kube1"); !host.Absent(err) {
		t.Errorf("the tree is left: %v", err)
	}
}

// TestC78MountsInTheTree: nothing is removed across a mount.
func TestC78MountsInTheTree(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", "")
	s.MustApply(t, part(t, "rootfs", text))
	if err := s.Host.Files.Mkdir("/var/lib/machines/kube1/data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Mount(memory.Mount{Point: "/var/lib/machines/kube1/data"}); err != nil {
		t.Fatal(err)
	}
	err := s.Reset(part(t, "rootfs", text))
	if err == nil || !strings.Contains(err.Error(), "/var/lib/machines/kube1/data from tmpfs is mounted there") {
		t.Errorf("error %v", err)
	}
	if _, err := host.Lstat(s.Host.Files, "/var/lib/machines/kube1/etc/os-release"); err != nil {
		t.Errorf("the tree is half removed: %v", err)
	}
}

// TestAdopted: what was there before us stays.
func TestAdopted(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	step := part(t, "rootfs", body("/srv/one.tar", ""))
	s.MustApply(t, step)
	for _, o := range step.Owns() {
		if err := step.Reset(context.Background(), s.Do(), o.Thing, thing.Origin{Kind: thing.OriginAdopted}); err != nil {
			t.Error(err)
		}
	}
	s.MustHold(t, step)
	if err := step.Reset(context.Background(), s.Do(), thing.Path("/other"), thing.Origin{}); err == nil {
		t.Error("a thing that is not the step's is reset")
	}
}

// TestC41ShiftedTree: a tree that came to belong to other users is refused
// where the machine has none.
func TestC41ShiftedTree(t *testing.T) {
	for users, refused := range map[string]bool{"no": true, "pick": false} {
		s := blocktest.NewStage(memoryHost(nil).Host())
		text := body("/srv/one.tar", "settings {\n exec = { PrivateUsers = \""+users+"\" }\n}")
		s.MustApply(t, part(t, "rootfs", text))
		if err := s.Host.Files.Lchown("/var/lib/machines/kube1", 500000, 500000); err != nil {
			t.Fatal(err)
		}
		_, err := s.Check(part(t, "rootfs", text))
		if (err != nil && strings.Contains(err.Error(), "belongs to 500000:500000")) != refused {
			t.Errorf("PrivateUsers=%s: %v", users, err)
		}
	}
}

func TestOddFiles(t *testing.T) {
	const name = "/etc/systemd/nspawn/kube1.nspawn"
	for want, f := range map[string]memory.File{
		"is a link": {Link: "/elsewhere"}, "mode or owner of": {}, "a directory or device is there": {Dir: true},
	} {
		s := blocktest.NewStage(memoryHost(nil).Host())
		text := body("/srv/one.tar", settings)
		s.MustApply(t, part(t, "rootfs", text))
		switch {
		case f.Dir:
			if err := s.Host.Files.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := s.Host.Files.Mkdir(name, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Check(part(t, "rootfs", text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
			continue
		case f.Link != "":
			if err := host.Symlink(s.Host.Files, f.Link, name); err != nil {
				t.Fatal(err)
			}
		default:
			if err := s.Host.Files.Chmod(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := s.MustCheck(t, part(t, "rootfs", text))
		if !strings.Contains(c.Reason, want) || c.Bytes != (f.Link != "") {
			t.Errorf("%s: %+v", want, c)
		}
		s.MustApply(t, part(t, "rootfs", text))
	}
}

// TestDamagedMark: neither taken for complete nor for absent.
func TestDamagedMark(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	step := part(t, "rootfs", body("/srv/one.tar", ""))
	s.MustApply(t, step)
	if err := host.Replace(s.Host.Files, rootfs.MarkPath("/var/lib/machines/kube1"), host.Content{Bytes: []byte("{"), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(step); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("check: %v", err)
	}
	for _, o := range step.Owns() {
		if o.Key() == "machine:kube1" {
			if _, err := o.Look(context.Background(), s.Host.View()); err == nil || !strings.Contains(err.Error(), "is damaged") {
				t.Errorf("look: %v", err)
			}
		}
	}
}

func TestUnknownArchitecture(t *testing.T) {
	s := blocktest.NewStage(memoryHost(nil).Host())
	text := strings.Replace(body("/srv/one.tar", ""), " platform = \"linux/amd64\"\n", "", 1)
	if err := s.Apply(part(t, "rootfs", text)); err == nil || !strings.Contains(err.Error(), "write platform in rootfs") {
		t.Errorf("error %v", err)
	}
}

func TestReadyResetsNothing(t *testing.T) {
	step := part(t, "ready", body("/srv/one.tar", ""))
	if len(step.Owns()) != 0 || step.Reset(context.Background(), block.Do{}, nil, thing.Origin{}) != nil {
		t.Error("ready owns or resets something")
	}
	args := blocktest.Args(t, nspawnmachine.Type(), body("/srv/one.tar", ""))
	args.Label = "a_b"
	if _, err := nspawnmachine.Type().Exports(args); err != nil {
		t.Errorf("exports: %v", err)
	}
}

// TestC43OneSlotRuns: whichever slots are found running, it is the active one
// that runs in the end, and no other.
func TestC43OneSlotRuns(t *testing.T) {
	ctx := context.Background()
	for name, running := range map[string][]string{"the other": {"kube2"}, "both": {"kube1", "kube2"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			s := blocktest.NewStage(memoryHost(nil).Host())
			one := strings.Replace(body("/srv/one.tar", ""), `name = "kube1"`, `slots = ["kube1", "kube2"]`, 1)
			two := strings.Replace(body("/srv/one.tar", ""), `name = "kube1"`, `slots = ["kube2", "kube1"]`, 1)
			s.MustApply(t, part(t, "rootfs", two))
			s.MustApply(t, part(t, "rootfs", one))
			for _, slot := range running {
				if err := s.Host.Units.Run(ctx, host.JobStart, thing.MachineUnit(slot)); err != nil {
					t.Fatal(err)
				}
			}
			step := part(t, "boot", one)
			if c := s.MustCheck(t, step); c.Action != block.ActionRun {
				t.Errorf("check: %+v", c)
			}
			s.MustApply(t, step)
			all, err := s.Host.Machines.Registered(ctx)
			if err != nil || len(all) != 1 || all[0].Name != "kube1" || !all[0].Alive {
				t.Errorf("registered are %+v (%v)", all, err)
			}
			s.MustHold(t, step)
		})
	}
}
