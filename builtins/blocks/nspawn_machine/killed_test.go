package nspawnmachine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// TestKilledWhileStarting: a run that is killed while the machine starts leaves
// one that runs and does not answer yet. The next run waits for it, asks the
// commands of ready, and records what it was built from.
func TestKilledWhileStarting(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", settings+"responsive_timeout = \"3s\"\nready {\n command = [\"true\"]\n}")
	s.MustApply(t, part(t, "rootfs", text))

	plain := s.Host.Machines
	s.Host.Machines = &lateMachines{Machines: plain, silent: 1000}
	if err := s.Apply(part(t, "boot", text)); err == nil { // as far as a killed run comes
		t.Fatal("a machine that does not answer is started")
	}
	c := s.MustCheck(t, part(t, "boot", text))
	if c.Action != block.ActionRun || !strings.Contains(c.Reason, "does not answer yet") || c.Wait != 0 {
		t.Errorf("while it is silent: %+v", c)
	}

	s.Host.Machines = plain
	found, _, err := thing.FindMachine(context.Background(), plain, "kube1")
	if err != nil {
		t.Fatal(err)
	}
	s.MustHold(t, part(t, "boot", text))
	var built []block.Built
	do := s.Do()
	do.Build = func(_ context.Context, b block.Built) error { built = append(built, b); return nil }
	ready := part(t, "ready", text)
	if c := s.MustCheck(t, ready); c.Action != block.ActionRun {
		t.Errorf("commands of ready are not asked: %+v", c)
	}
	if err := ready.Apply(context.Background(), do); err != nil || len(built) != 1 || built[0].Image != "/srv/one.tar" {
		t.Errorf("built %+v (%v)", built, err)
	}
	s.MustHold(t, ready)
	again, _, err := thing.FindMachine(context.Background(), plain, "kube1")
	if err != nil || again.Leader != found.Leader {
		t.Errorf("the machine was restarted: %+v (%v)", again, err)
	}
}

// TestStartedByBoot: a machine that the boot starts while ensure runs is waited
// for, and nothing is recorded that no run of ours started.
func TestStartedByBoot(t *testing.T) {
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	text := body("/srv/one.tar", settings)
	s.MustApply(t, part(t, "rootfs", text))
	if err := s.Host.Units.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Host.Units.Run(context.Background(), host.JobStart, thing.MachineUnit("kube1")); err != nil {
		t.Fatal(err)
	}
	late := &lateMachines{Machines: s.Host.Machines, silent: 3}
	s.Host.Machines = late
	if c := s.MustCheck(t, part(t, "boot", text)); c.Action != block.ActionRun || c.Wait == 0 {
		t.Errorf("while it is silent: %+v", c)
	}
	s.MustApply(t, part(t, "boot", text))
	if _, err := host.Lstat(s.Host.Files, "/run/hostler/machines/kube1.json"); !host.Absent(err) {
		t.Errorf("a start that was not ours is noted (%v)", err)
	}
}

// lateMachines do not answer the first questions.
type lateMachines struct {
	host.Machines
	silent int
}

func (l *lateMachines) View(ctx context.Context, name string) (host.View, error) {
	h, err := l.Host(ctx, name)
	return h.View(), err
}

func (l *lateMachines) Host(ctx context.Context, name string) (host.Host, error) {
	if l.silent > 0 {
		l.silent--
		return memory.New(memory.Options{Offline: true}).Host(), nil
	}
	return l.Machines.Host(ctx, name)
}

// TestLockOfAKilledMachine: systemd-nspawn that ends in the middle of its start
// leaves its lock beside the tree; it goes with the tree, and alone means no
// machine.
func TestLockOfAKilledMachine(t *testing.T) {
	const lock, other = "/var/lib/machines/.#kube1.lck", "/var/lib/machines/.#kube12.lck"
	m := memoryHost(nil)
	s := blocktest.NewStage(m.Host())
	leave := func() {
		t.Helper()
		for _, name := range []string{lock, other} {
			if err := afero.WriteFile(s.Host.Files, name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	leave()
	rootfs := part(t, "rootfs", body("/srv/one.tar", settings))
	s.MustApply(t, rootfs)
	leave()
	s.MustReset(t, rootfs)
	if _, err := host.Lstat(s.Host.Files, lock); !host.Absent(err) {
		t.Errorf("%s was left (%v)", lock, err)
	}
	if _, err := host.Lstat(s.Host.Files, other); err != nil {
		t.Errorf("%s, of another machine: %v", other, err)
	}
}
