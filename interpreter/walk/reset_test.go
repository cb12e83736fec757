package walk_test

import (
	"context"
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
	"hostler/interpreter/walk"
)

// TestR118PhaseFirst: the phase is durable before anything is torn down.
func TestR118PhaseFirst(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", "") + service("b.service", "1", ""))
	var phase record.Phase
	s.plan = fault.HookAt(1, func(fault.Effect) { phase = s.copy().Phase }).Only(outside)
	s.mustReset()
	if phase != record.Resetting {
		t.Errorf("phase %q at the first effect", phase)
	}
}

// TestResetOrder: last claim first; reset_steps act at their place, so that
// one before a machine acts after the machine is gone.
func TestResetOrder(t *testing.T) {
	step := func(name string) string {
		return "reset_step \"" + name + "\" {\n run { argv = [\"undo\", \"" + name + "\"] }\n}\n"
	}
	o := machineHost(t)
	o.Executables = append(o.Executables, "undo")
	var order []string
	o.Programs = map[string]memory.Program{"undo": func(i memory.Invocation) host.CommandResult {
		all, _ := i.Host.Machines.Registered(background)
		order = append(order, i.Argv[1])
		if len(all) > 0 {
			order = append(order, "(machine runs)")
		}
		return host.CommandResult{}
	}}
	s := newScene(t, o)
	s.drive(step("first") + worker("w", "c", "k") + step("last") + file("a", "/etc/a", "1", ""))
	s.mustReset()
	s.list(order, "last", "(machine runs)", "first")
	if did := s.did(); did[0] != "delete path:/etc/a" || did[1] != "run reset_step.last" || did[len(did)-1] != "run reset_step.first" {
		t.Errorf("undone %q", did)
	}
}

// TestSameResetStepTwice: two that do the same are one.
func TestSameResetStepTwice(t *testing.T) {
	o := memory.Options{Executables: []string{"undo"}}
	n := 0
	o.Programs = map[string]memory.Program{"undo": func(memory.Invocation) host.CommandResult { n++; return host.CommandResult{} }}
	s := newScene(t, o)
	s.drive("reset_step \"a\" {\n run { argv = [\"undo\"] }\n}\nreset_step \"b\" {\n run { argv = [\"undo\"] }\n}\n")
	s.restart()
	s.mustReset()
	if n != 1 {
		t.Errorf("it acted %d times", n)
	}
}

// TestEditedRefuses: all claims are looked at before anything is torn down; an
// edit refuses, --discard-edits goes on, and an unfinished reset does not ask
// again.
func TestEditedRefuses(t *testing.T) {
	set := func(t *testing.T) *scene {
		s := newScene(t, memory.Options{})
		s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", "") + file("gone", "/etc/gone", "1", "") + file("mode", "/etc/mode", "1", ""))
		s.put("/etc/a", "edited")
		s.ok(s.Host().Files.Remove("/etc/gone"))
		s.ok(s.Host().Files.Chmod("/etc/mode", 0o600))
		return s
	}
	t.Run("refuses", func(t *testing.T) {
		s := set(t)
		_, err := s.reset(nil)
		edited, ok := errors.AsType[*walk.EditedError](err)
		if !ok || len(edited.Things) != 1 || edited.Things[0].Thing != "path:/etc/a" || !strings.Contains(err.Error(), "--discard-edits") {
			t.Fatalf("error %v", err)
		}
		s.want("/etc/b", "1")
		if s.copy().Phase != record.Complete {
			t.Errorf("phase %s", s.copy().Phase)
		}
	})
	t.Run("a directory in its place", func(t *testing.T) {
		s := set(t)
		s.ok(s.Host().Files.Remove("/etc/a"))
		s.put("/etc/a/theirs", "x")
		if _, err := s.reset(nil); err == nil {
			t.Fatal("it did not refuse")
		}
		s.want("/etc/a/theirs", "x")
	})
	t.Run("discards", func(t *testing.T) {
		s := set(t)
		_, err := s.reset(func(in *walk.Input) { in.DiscardEdits = true })
		s.ok(err)
		s.want("/etc/a", "(absent)")
	})
	t.Run("not asked again", func(t *testing.T) {
		s := set(t)
		s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/b" })
		if _, err := s.reset(func(in *walk.Input) { in.DiscardEdits = true }); !errors.Is(err, syscall.EIO) {
			t.Fatalf("error %v", err)
		}
		s.restart()
		s.mustReset()
		s.want("/etc/a", "(absent)")
	})
}

// TestEditedContents: every content that a run may have written is ours, the
// original too, and sensitive ones are known by their keyed hash.
func TestEditedContents(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/a": {Content: "theirs"}}})
	for _, v := range []string{"1", "2", "3"} {
		s.drive(file("a", "/etc/a", v, "replaces_foreign = true\n"))
	}
	for _, v := range []string{"1", "2", "3", "theirs"} {
		s.put("/etc/a", v)
		in := s.input(s.host())
		in.Begin = func(context.Context) error { return errors.New("it went on") }
		if _, err := walk.Reset(background, in); err == nil || err.Error() != "it went on" {
			t.Errorf("with %q: %v", v, err)
		}
	}
}

// TestC80GoneCountsAsDone: what somebody removed already is done, and a unit
// that runs without its file is stopped.
func TestC80GoneCountsAsDone(t *testing.T) {
	s := newScene(t, memory.Options{})
	before := s.Snapshot("/run", record.Dir)
	s.drive(file("a", "/etc/x/a", "1", "") + service("b.service", "1", ""))
	s.ok(s.Host().Files.RemoveAll("/etc/x"))
	s.ok(s.Host().Files.Remove("/etc/systemd/system/b.service"))
	s.mustReset()
	if s.unit("b.service").Running() {
		t.Error("the unit still runs")
	}
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("left: %v", diff)
	}
}

// TestR119R120Retry: an error stops the reset, names the thing, and the next
// reset goes on.
func TestR119R120Retry(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	s.plan = fault.FailAt(1, syscall.EPERM).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/b" })
	result, err := s.reset(nil)
	step, ok := errors.AsType[*walk.StepError](err)
	if !ok || step.Address != "path:/etc/b" || result.Failed != 1 {
		t.Fatalf("error %v", err)
	}
	if s.copy().Phase != record.Resetting {
		t.Errorf("phase %s", s.copy().Phase)
	}
	s.want("/etc/a", "1")
	s.restart()
	s.mustReset()
	s.want("/etc/a", "(absent)")
}

// TestZeroResidue: afterwards every claim is looked for again, and what is left
// is listed.
func TestZeroResidue(t *testing.T) {
	back := false
	s := newScene(t, memory.Options{Executables: []string{"work"}, Programs: map[string]memory.Program{
		"work": func(i memory.Invocation) host.CommandResult {
			back = true
			_ = host.Replace(i.Host.Files, "/etc/b", host.Content{Bytes: []byte("again"), Mode: 0o644})
			return host.CommandResult{}
		},
	}})
	s.drive("reset_step \"brings it back\" {\n run { argv = [\"work\"] }\n}\n" + file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	_, err := s.reset(nil)
	left, ok := errors.AsType[*walk.ResidueError](err)
	if !ok || !back || !slices.Equal(left.Things, []thing.Key{"path:/etc/b"}) || !strings.Contains(err.Error(), "run hostler reset again") {
		t.Fatalf("error %v", err)
	}
}

// TestResidueOfARunningSystem: what a reset_step names must be gone.
func TestResidueOfARunningSystem(t *testing.T) {
	s := newScene(t, memory.Options{Executables: []string{"nft"}, Network: memory.Network{Links: []host.LinkState{{Name: "wg51820", Kind: "wireguard"}, {Name: "wg0", Kind: "wireguard"}}}})
	s.drive("reset_step \"links\" {\n delete_link {\n  name_range = \"wg51820-51899\"\n  kind = \"wireguard\"\n }\n}\n")
	s.mustReset()
	links, err := s.Host().Network.Links(background)
	if err != nil || len(links) != 1 || links[0].Name != "wg0" {
		t.Errorf("links %v, %v", links, err)
	}
}

// TestR121SyncFirst: all that claims name is made durable at the end, also what
// an earlier attempt undid.
func TestR121SyncFirst(t *testing.T) {
	s := newScene(t, memory.Options{Mounts: []memory.Mount{{Point: "/data", Type: "ext4"}}})
	s.drive(file("a", "/etc/a", "1", "") + file("d", "/data/d", "1", ""))
	s.plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Kind == "synctree" })
	if _, err := s.reset(nil); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	s.restart()
	s.mustReset()
	s.list(s.synced(), "/data", "/etc")
}

// TestR126R127Machined: machined that is not installed proves that there are no
// machines; one that fails proves nothing.
func TestR126R127Machined(t *testing.T) {
	o := machineHost(t)
	s := newScene(t, o)
	s.drive(worker("w", "c", "k"))
	s.Refuse(memory.CallRegistered, errors.New("no reply from machined"))
	if _, err := s.reset(nil); err == nil || !strings.Contains(err.Error(), "no reply from machined") {
		t.Errorf("error %v", err)
	}
	s.restart()
	s.Refuse(memory.CallRegistered, host.ErrNoMachined)
	s.ok(s.Host().Units.Run(background, host.JobStop, "systemd-nspawn@kube1.service"))
	s.mustReset()
	s.want("/var/lib/machines/kube1/etc/hostname", "(absent)")
}

// TestInnerResetSteps: those inside a machine run while it runs, and fall with
// it when it does not.
func TestInnerResetSteps(t *testing.T) {
	body := strings.Replace(worker("w", "c", "k"), "after_boot {", "after_boot {\n reset_step \"inner\" {\n run { argv = [\"true\"] }\n }\n", 1)
	for name, running := range map[string]bool{"running": true, "stopped": false} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, machineHost(t))
			s.drive(body)
			if !running {
				s.ok(s.Host().Units.Run(background, host.JobStop, "systemd-nspawn@kube1.service"))
			}
			s.mustReset()
			ran := slices.ContainsFunc(s.plan.Log(), func(e fault.Effect) bool { return e.Kind == "command" && e.Machine == "kube1" })
			if ran != running {
				t.Errorf("it ran: %v", ran)
			}
		})
	}
}

// TestAdoptedStays: what was adopted is neither removed nor counted as left.
func TestAdoptedStays(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.put("/etc/a", "1")
	steps := s.steps(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	_, err := s.rec.Retarget(steps, nil)
	s.ok(err)
	s.rec.Claim("path:/etc/a").Origin = thing.Origin{Kind: thing.OriginAdopted}
	s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	s.drive(file("b", "/etc/b", "1", ""))
	s.want("/etc/a", "1")
	s.drive(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	s.rec.Claim("path:/etc/a").Origin = thing.Origin{Kind: thing.OriginAdopted}
	s.mustReset()
	s.want("/etc/a", "1")
	s.want("/etc/b", "(absent)")
}

// TestOwnUnit: the unit we run in keeps its file and enablement until all else
// is gone, and is not stopped by the walk.
func TestOwnUnit(t *testing.T) {
	s := newScene(t, memory.Options{})
	own := strings.ReplaceAll(service("own.service", "1", ""), "state   = \"started\"", "state = \"started\"\n enable = true\n drop_in \"10-x.conf\" { content = \"[Unit]\\n\" }")
	s.drive(file("a", "/etc/a", "1", "") + own + file("b", "/etc/b", "1", ""))
	result, err := s.reset(func(in *walk.Input) { in.OwnUnit = "own.service" })
	s.ok(err)
	s.list(s.did(), "delete path:/etc/b", "delete path:/etc/a", "delete unit-enabled:own.service",
		"delete path:/etc/systemd/system/own.service.d/10-x.conf", "delete path:/etc/systemd/system/own.service")
	if !result.StopOwn || !s.unit("own.service").Running() {
		t.Errorf("result %+v, unit %+v", result, s.unit("own.service"))
	}
	if _, err := host.Lstat(s.Host().Files, "/etc/systemd/system/own.service.d"); !host.Absent(err) {
		t.Errorf("its directory is left: %v", err)
	}
}

// TestStagingFiles: what a killed run left beside a thing goes with it (C20).
func TestStagingFiles(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{"/etc/real": {Content: "theirs"}, "/etc/link": {Link: "real"}}})
	before := s.Snapshot("/run", record.Dir)
	s.drive(file("a", "/etc/x/a", "1", "") + file("l", "/etc/link", "1", "follow = true\nreplaces_foreign = true\n") +
		strings.ReplaceAll(service("b.service", "1", ""), "state   = \"started\"", "state = \"started\"\n enable = true"))
	for _, name := range []string{"/etc/x/a", "/etc/real", "/etc/systemd/system/b.service", "/etc/systemd/system/multi-user.target.wants/b.service"} {
		s.put(host.TemporaryName(name), "half")
	}
	s.mustReset()
	if diff := memory.Difference(before, s.Snapshot("/run", record.Dir)); len(diff) > 0 {
		t.Errorf("left: %v", diff)
	}
}

// TestCancelled: a cancelled context stops a reset and a walk.
func TestCancelled(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", ""))
	ctx, cancel := context.WithCancel(background)
	cancel()
	in := s.input(s.host())
	in.Record.Phase = record.Resetting
	if _, err := walk.Reset(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.want("/etc/a", "1")
}

// TestPreflight: all requirements are asked, wherever they stand, but for those
// that are known to hold.
func TestPreflight(t *testing.T) {
	s := newScene(t, memory.Options{})
	in := s.input(s.host())
	in.Desired = s.steps(file("a", "/etc/a", "1", "") + "require_capability \"sh\" { executable = \"sh\" }\nrequire_capability \"no\" { executable = \"nothing\" }\nrequire_capability \"maybe\" { executable = \"none\" }\n")
	known := func(p *block.Placed) bool { return p.Label == "maybe" }
	found := walk.Preflight(background, in, known)
	if len(found) != 2 || found[0].Address != "require_capability.sh" || found[0].Err != nil || found[1].Err == nil {
		t.Errorf("findings %+v", found)
	}
	if len(s.plan.Log()) > 0 {
		t.Errorf("it had effects: %v", s.plan.Log())
	}
	if found := walk.Preflight(background, in, nil); len(found) != 3 {
		t.Errorf("findings %+v", found)
	}
}

// TestForeignRecord: claims that a step does not know any more are an error
// that says so.
func TestForeignRecord(t *testing.T) {
	s := newScene(t, memory.Options{})
	s.drive(file("a", "/etc/a", "1", ""))
	s.rec.Claims[0].Thing = "path:/etc/other"
	if _, err := s.reset(nil); err == nil || !strings.Contains(err.Error(), "not among the things its step owns") {
		t.Errorf("error %v", err)
	}
}

// TestNeedsInput: without the value of a sensitive variable everything else is
// done, then it is asked for.
func TestNeedsInput(t *testing.T) {
	s := newScene(t, memory.Options{})
	steps := s.steps(file("a", "/etc/a", "1", "") + file("b", "/etc/b", "1", ""))
	for i := range steps {
		if steps[i].Label == "a" {
			steps[i].NeedsInput = []string{"token"}
		}
	}
	for name, c := range map[string]struct {
		fill  func(context.Context, *block.Placed) (block.Step, error)
		words string
	}{
		"given":     {func(_ context.Context, p *block.Placed) (block.Step, error) { return p.Step, nil }, ""},
		"not given": {func(context.Context, *block.Placed) (block.Step, error) { return needing{}, nil }, "needs inputs: write_file_if_changed.a must be written from the sensitive token"},
		"faulty": {func(context.Context, *block.Placed) (block.Step, error) {
			return nil, errors.New("the recipe is damaged")
		}, "the recipe is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, memory.Options{})
			in := s.input(s.host())
			_, err := s.rec.Retarget(steps, nil)
			s.ok(err)
			in.Desired, in.Fill = steps, c.fill
			in.Desired = slices.Clone(steps)
			_, err = walk.Drive(background, in)
			if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Fatalf("error %v", err)
			}
			if _, needs := errors.AsType[*walk.NeedsInputError](err); needs {
				s.want("/etc/a", "(absent)")
				s.want("/etc/b", "1")
			}
		})
	}
}
