package interpreterinstall

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const (
	prefix  = "/opt/h"
	bin     = prefix + "/bin/"
	daemon  = "/etc/systemd/system/" + delivery.DaemonUnit
	recover = "/etc/systemd/system/" + delivery.RecoveryUnit
	boot    = "/etc/systemd/system/" + delivery.BootUnit
)

func at(args *block.Args) { args.Prefix = prefix }

func on(files map[string]memory.File) func(*testing.T) host.Host {
	return func(*testing.T) host.Host { return machine(files).Host() }
}

func machine(files map[string]memory.File) *memory.Memory {
	return memory.New(memory.Options{Files: files})
}

func program(content string) memory.File { return memory.File{Content: content, Mode: 0o755} }

func stepOf(t *testing.T, body string) block.Step {
	args := blocktest.Args(t, Type(), body)
	at(&args)
	return blocktest.StepOf(t, Type(), args)
}

func TestContract(t *testing.T) {
	for name, c := range map[string]struct{ body string }{
		"all":         {""},
		"inputs":      {`boot_inputs = ["/etc/a.hcl"]` + "\n" + `credentials = { token = "/etc/token" }`},
		"no daemon":   {"daemon = false"},
		"no boot":     {"first_boot_unit = false"},
		"none of all": {"daemon = false\nfirst_boot_unit = false"},
	} {
		t.Run(name, func(t *testing.T) {
			blocktest.Run(t, blocktest.Case{Type: Type(), Body: c.body, Adjust: at, Host: on(nil), Names: []string{
				"interpreter", "hostler-", "systemd", bin,
			}})
		})
	}
}

// leads says what is called by a name in the end.
func leads(t *testing.T, f host.FileView, name string) string {
	t.Helper()
	content, err := thing.ReadAll(f, name)
	if err != nil {
		t.Fatalf("%s leads to nothing: %v", name, err)
	}
	return string(content)
}

func link(t *testing.T, f host.FileView, name string) string {
	t.Helper()
	target, err := f.ReadlinkIfPossible(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// TestLinks holds what becomes of programs and links: R099 to R103, R154, R155.
func TestLinks(t *testing.T) {
	const own = blocktest.Program
	chain := func(more map[string]memory.File) map[string]memory.File {
		files := map[string]memory.File{
			bin + "hostler-blue": program("blue"), bin + "hostler-current": {Link: "hostler-blue"},
			bin + "hostler-last-good": {Link: "hostler-blue"}, bin + "hostler": {Link: "hostler-current"},
		}
		for name, file := range more {
			files[name] = file
			if file.Content == "" && file.Link == "" {
				delete(files, name)
			}
		}
		return files
	}
	none := memory.File{}
	for name, c := range map[string]struct {
		files            map[string]memory.File
		quiet            bool
		current, program string
		good             string
	}{
		"nothing there":               {nil, false, own, own, own},
		"R101 healthy chain":          {chain(nil), true, "blue", "blue", "blue"},
		"other slot runs":             {chain(map[string]memory.File{bin + "hostler-green": program("green"), bin + "hostler-current": {Link: "hostler-green"}}), true, "green", "green", "blue"},
		"R099 dangling current":       {chain(map[string]memory.File{bin + "hostler-current": {Link: "gone"}}), false, "blue", "blue", "blue"},
		"no current":                  {chain(map[string]memory.File{bin + "hostler-current": none}), false, "blue", "blue", "blue"},
		"R102 dangling last-good":     {chain(map[string]memory.File{bin + "hostler-last-good": {Link: "gone"}}), false, "blue", "blue", "blue"},
		"R155 dangling program":       {chain(map[string]memory.File{bin + "hostler": {Link: "gone"}}), false, "blue", "blue", "blue"},
		"R100 current is a directory": {chain(map[string]memory.File{bin + "hostler-current": {Link: "/etc"}}), false, "blue", "blue", "blue"},
		"R100 current is no program":  {chain(map[string]memory.File{"/etc/x": {Content: "x", Mode: 0o644}, bin + "hostler-current": {Link: "/etc/x"}}), false, "blue", "blue", "blue"},
		"a circle":                    {chain(map[string]memory.File{bin + "hostler-current": {Link: "hostler"}}), false, "blue", "blue", "blue"},
		"no slot, all in a circle":    {map[string]memory.File{bin + "hostler-blue": {Link: "hostler-current"}, bin + "hostler-current": {Link: "hostler-blue"}, bin + "hostler": {Link: "hostler-current"}}, false, own, own, own},
		"blue lost, green there":      {chain(map[string]memory.File{bin + "hostler-blue": none, bin + "hostler-green": program("green")}), false, "green", "green", "green"},
		"R154 program elsewhere":      {chain(map[string]memory.File{"/srv/h": program("srv"), bin + "hostler": {Link: "/srv/h"}}), true, "blue", "srv", "blue"},
		"current elsewhere":           {chain(map[string]memory.File{"/srv/h": program("srv"), bin + "hostler-current": {Link: "/srv/h"}}), true, "srv", "srv", "blue"},
		"delivered":                   {map[string]memory.File{bin + "hostler": program("delivered")}, false, "delivered", "delivered", "delivered"},
		"current is the delivered":    {map[string]memory.File{bin + "hostler": program("delivered"), bin + "hostler-current": {Link: "hostler"}, bin + "hostler-last-good": {Link: "hostler"}}, false, "delivered", "delivered", "delivered"},
		"delivered again":             {chain(map[string]memory.File{bin + "hostler": program("old")}), false, "blue", "blue", "blue"},
		"slot that cannot run":        {chain(map[string]memory.File{bin + "hostler-blue": {Content: "x", Mode: 0o644}}), false, own, own, own},
	} {
		t.Run(name, func(t *testing.T) {
			s := blocktest.NewStage(on(c.files)(t))
			step := stepOf(t, "daemon = false\nfirst_boot_unit = false")
			if change := s.MustCheck(t, step); change.Needed() == c.quiet {
				t.Errorf("check: %s (%s)", change.Action, change.Reason)
			}
			s.MustApply(t, step)
			for link, want := range map[string]string{"hostler-current": c.current, "hostler": c.program, "hostler-last-good": c.good} {
				if got := leads(t, s.Host.Files, bin+link); got != want {
					t.Errorf("%s is %q, want %q", link, got, want)
				}
			}
			s.MustReset(t, step)
		})
	}
}

func TestLinksAreRelative(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	s.MustApply(t, stepOf(t, ""))
	for name, want := range map[string]string{"hostler": "hostler-current", "hostler-current": "hostler-blue", "hostler-last-good": "hostler-blue"} {
		if got := link(t, s.Host.Files, bin+name); got != want {
			t.Errorf("%s links to %s, want %s", name, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	step := stepOf(t, `boot_inputs = ["/etc/a.hcl", "/etc/b.json"]`)
	s.MustApply(t, step)
	for _, name := range []string{daemon, recover, boot} {
		if text := leads(t, s.Host.Files, name); !delivery.Pristine(text) {
			t.Errorf("%s is not as it was written:\n%s", name, text)
		}
	}
	if text := leads(t, s.Host.Files, boot); !strings.Contains(text, "ensure --inputs /etc/a.hcl --inputs /etc/b.json") {
		t.Errorf("the boot unit passes no inputs:\n%s", text)
	}
	for unit, enabled := range map[string]bool{delivery.DaemonUnit: true, delivery.BootUnit: true, delivery.RecoveryUnit: false} {
		_, err := host.Lstat(s.Host.Files, "/etc/systemd/system/multi-user.target.wants/"+unit)
		if (err == nil) != enabled {
			t.Errorf("%s: enabled link: %v", unit, err)
		}
	}
}

// TestR098EditedUnitStays: what somebody edited is theirs; what hostler itself
// wrote, in another release or for a delivery, is brought up to date.
func TestR098EditedUnitStays(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	s.MustApply(t, stepOf(t, ""))
	edited := leads(t, s.Host.Files, daemon) + "# mine\n"
	put := func(name, text string) {
		if err := host.Replace(s.Host.Files, name, host.Content{Bytes: []byte(text), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	put(daemon, edited)
	put(boot, delivery.Boot{Prefix: prefix, Recipe: "recipe:x"}.Text())
	change := s.MustCheck(t, stepOf(t, ""))
	if !strings.Contains(change.Reason, delivery.BootUnit) || strings.Contains(change.Reason, delivery.DaemonUnit) {
		t.Errorf("check: %s (%s)", change.Action, change.Reason)
	}
	s.MustApply(t, stepOf(t, ""))
	if leads(t, s.Host.Files, daemon) != edited {
		t.Error("the edited unit was overwritten")
	}
	if text := leads(t, s.Host.Files, boot); strings.Contains(text, "recipe:x") {
		t.Error("the delivered unit stayed")
	}
	put(daemon, "")
	s.MustApply(t, stepOf(t, ""))
	if leads(t, s.Host.Files, daemon) == "" {
		t.Error("an empty file, which masks the unit, stayed")
	}
}

// TestR110DaemonIsStartedWhenComplete: never before, and not by itself.
func TestR110DaemonIsStartedWhenComplete(t *testing.T) {
	ctx := context.Background()
	s := blocktest.NewStage(on(nil)(t))
	step := stepOf(t, "")
	s.MustApply(t, step)
	running := func() bool {
		u, err := s.Host.Units.Unit(ctx, delivery.DaemonUnit)
		return err == nil && u.Running()
	}
	if err := s.Host.Units.Reload(ctx); err != nil || running() {
		t.Fatalf("the daemon runs before the installation is complete (%v)", err)
	}
	do := s.Do()
	do.Installed = "complete"
	if change, err := step.Check(ctx, do.Look); err != nil || change.Action != block.ActionRun {
		t.Errorf("check: %+v, %v", change, err)
	}
	own := do.Look
	own.OwnUnit = delivery.DaemonUnit
	if change, err := step.Check(ctx, own); err != nil || change.Needed() {
		t.Errorf("the daemon would start itself: %+v, %v", change, err)
	}
	if err := step.Apply(ctx, do); err != nil || !running() {
		t.Fatalf("the daemon was not started: %v", err)
	}
	if change, err := step.Check(ctx, do.Look); err != nil || change.Needed() {
		t.Errorf("still something to do: %+v, %v", change, err)
	}
	s.MustReset(t, step)
	if running() {
		t.Error("the daemon runs after the reset")
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		options memory.Options
		want    string
	}{
		"directory": {memory.Options{Files: map[string]memory.File{bin + "hostler-current": {Dir: true}}}, "hostler-current: a directory is there"},
		"unit":      {memory.Options{Files: map[string]memory.File{daemon: {Dir: true}}}, "hostler-daemon.service: a directory is there"},
		"read-only": {memory.Options{ReadOnly: []string{"/opt"}}, "mounted at /opt"},
		"noexec":    {memory.Options{Mounts: []memory.Mount{{Point: "/opt", NoExec: true}}}, "the mount at /opt is noexec"},
	} {
		s := blocktest.NewStage(memory.New(c.options).Host())
		if _, err := s.Check(stepOf(t, "")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestNoProgram(t *testing.T) {
	s := blocktest.NewStage(on(nil)(t))
	step, do := stepOf(t, ""), s.Do()
	do.Program = nil
	if err := step.Apply(context.Background(), do); err == nil || !strings.Contains(err.Error(), "no program to install") {
		t.Errorf("without a program: %v", err)
	}
	gone := errors.New("gone")
	do.Program = func() (io.ReadCloser, error) { return nil, gone }
	if err := step.Apply(context.Background(), do); !errors.Is(err, gone) {
		t.Errorf("a program that cannot be read: %v", err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		`boot_inputs = ["relative"]`:                            "absolute",
		`boot_inputs = ["/a b"]`:                                "cannot stand in a unit file",
		`boot_inputs = ["/a%n"]`:                                "cannot stand in a unit file",
		`credentials = { "a b" = "/x" }`:                        "no name of a variable",
		`credentials = { a = "/x$y" }`:                          "cannot stand in a unit file",
		"boot_inputs = [\"/a\"]\nfirst_boot_unit = false":       "are for the boot unit",
		"credentials = { a = \"/a\" }\nfirst_boot_unit = false": "are for the boot unit",
	} {
		if got := blocktest.Faults(Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
