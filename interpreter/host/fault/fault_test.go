package fault_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/memory"
)

// A host that is only counted is the host itself.
func TestContract(t *testing.T) {
	hosttest.Run(t, hosttest.Maker{
		Traits: hosttest.Traits{Live: true, Privileged: true, Special: true},
		New: func(*testing.T) host.Host {
			return fault.Wrap(memory.New(memory.Options{}).Host(), fault.Count())
		},
	})
	hosttest.AtRest(t, func(*testing.T) host.Host {
		return fault.Wrap(memory.New(memory.Options{Offline: true}).Host(), fault.Count())
	})
}

func kinds(p *fault.Plan) []string {
	var list []string
	for _, e := range p.Log() {
		list = append(list, e.Kind)
	}
	return list
}

// everyDoor makes every call that changes something, up to the first that
// fails, and returns the kinds of those that did not.
func everyDoor(t *testing.T, h host.Host) ([]string, error) {
	ctx := t.Context()
	special, ok := h.Files.(host.Special)
	if !ok {
		t.Fatal("host.Special is not offered")
	}
	when := time.Unix(1, 0)
	var f interface {
		Write([]byte) (int, error)
		WriteAt([]byte, int64) (int, error)
		WriteString(string) (int, error)
		Truncate(int64) error
		Sync() error
		Close() error
	}
	steps := []struct {
		kind string
		do   func() error
	}{
		{"create", func() (err error) { f, err = h.Files.Create("/f"); return err }},
		{"write", func() error { _, err := f.Write([]byte("abc")); return err }},
		{"write", func() error { _, err := f.WriteAt([]byte("d"), 3); return err }},
		{"write", func() error { _, err := f.WriteString("e"); return err }},
		{"truncate", func() error { return f.Truncate(2) }},
		{"sync", func() error { return f.Sync() }},
		{"open", func() error {
			g, err := h.Files.OpenFile("/g", syscall.O_WRONLY|syscall.O_CREAT, 0o600)
			if err != nil {
				return err
			}
			return g.Close()
		}},
		{"sync", func() error { return host.SyncDir(h.Files, "/") }},
		{"mkdir", func() error { return h.Files.Mkdir("/d", 0o755) }},
		{"mkdirall", func() error { return h.Files.MkdirAll("/d/e", 0o755) }},
		{"chmod", func() error { return h.Files.Chmod("/f", 0o600) }},
		{"chown", func() error { return h.Files.Chown("/f", 1, 1) }},
		{"lchown", func() error { return h.Files.Lchown("/f", 0, 0) }},
		{"chtimes", func() error { return h.Files.Chtimes("/f", when, when) }},
		{"lchtimes", func() error { return special.Lchtimes("/f", 1) }},
		{"setxattr", func() error { return special.Lsetxattr("/f", "user.x", nil) }},
		{"mknod", func() error { return special.Mknod("/fifo", syscall.S_IFIFO, 0) }},
		{"link", func() error { return h.Files.Link("/f", "/hard") }},
		{"symlink", func() error { return h.Files.SymlinkIfPossible("f", "/soft") }},
		{"rename", func() error { return h.Files.Rename("/f", "/moved") }},
		{"remove", func() error { return h.Files.Remove("/moved") }},
		{"removeall", func() error { return h.Files.RemoveAll("/d") }},
		{"synctree", func() error { return h.Files.SyncTree("/") }},
		{"reload", func() error { return h.Units.Reload(ctx) }},
		{"unit start", func() error { return h.Units.Run(ctx, host.JobStart, "a.service") }},
		{"queue stop", func() error { return h.Units.Queue(ctx, host.JobStop, "a.service") }},
		{"reset-failed", func() error { return h.Units.ResetFailed(ctx, "a.service") }},
		{"terminate", func() error { return h.Machines.Terminate(ctx, "none") }},
		{"sysctl", func() error { return h.Kernel.SetSysctl(ctx, "a.b", "2") }},
		{"load module", func() error { return h.Kernel.LoadModule(ctx, "overlay") }},
		{"swapoff", func() error { return h.Kernel.SwapOff(ctx, "/swap") }},
		{"swapon", func() error { return h.Kernel.SwapOn(ctx, host.SwapArea{Name: "/swap"}) }},
		{"unmount", func() error { return h.Kernel.Unmount(ctx, "/mnt/x") }},
		{"delete link", func() error { return h.Network.DeleteLink(ctx, "wg0") }},
		{"delete rule", func() error { return h.Network.DeleteRule(ctx, host.RuleState{Family: host.IPv4, Table: 7}) }},
		{"flush table", func() error { return h.Network.FlushTable(ctx, host.TableState{Family: host.IPv4, Table: 7}) }},
		{"command", func() error { _, err := h.Commands.Run(ctx, host.Command{Argv: []string{"true"}}); return err }},
	}
	var names []string
	for _, s := range steps {
		if err := s.do(); err != nil {
			return names, err
		}
		names = append(names, s.kind)
	}
	return names, f.Close()
}

func options() memory.Options {
	return memory.Options{
		Units:    []memory.Unit{{Name: "a.service"}},
		Machines: []memory.Machine{{Name: "kube1", Running: true, Units: []memory.Unit{{Name: "k.service"}}}},
		Mounts:   []memory.Mount{{Point: "/mnt/x"}},
		Kernel:   memory.Kernel{Sysctl: map[string]string{"a.b": "1"}, Modules: map[string]bool{"overlay": false}, Swaps: []string{"/swap"}},
	}
}

func TestEveryDoorIsCounted(t *testing.T) {
	plan := fault.Count()
	h := fault.Wrap(memory.New(options()).Host(), plan)
	look(t, h)
	if got := plan.Log(); len(got) != 0 {
		t.Errorf("looking is counted: %v", got)
	}
	want, err := everyDoor(t, h)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(plan); !slices.Equal(got, want) {
		t.Errorf("counted\n%q, want\n%q", got, want)
	}
	for i, e := range plan.Log() {
		if e.N != i+1 || e.Name == "" {
			t.Errorf("effect %d is %+v", i+1, e)
		}
	}
	if got := plan.Log()[19].String(); got != "20: rename /f" {
		t.Errorf("an effect reads %q", got)
	}
}

// look makes calls that change nothing.
func look(t *testing.T, h host.Host) {
	ctx := t.Context()
	f, err := h.Files.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Stat()
	_ = f.Close()
	_, _ = h.Files.OpenFile("/etc/passwd", syscall.O_RDONLY, 0)
	_, _ = host.Lstat(h.Files, "/etc")
	_, _ = h.Files.(host.Special).Llistxattr("/etc")
	_, _ = h.Files.(host.Special).Lgetxattr("/etc", "user.x")
	_, _ = h.Units.Unit(ctx, "a.service")
	_, _ = h.Machines.Registered(ctx)
	_, _ = h.Machines.Host(ctx, "kube1")
	_ = h.Clock.Sleep(ctx, time.Second)
	if release, err := h.Locks.Acquire(ctx, host.LockExclusive, host.Holder{}); err != nil || release() != nil {
		t.Errorf("the lock: %v", err)
	}
}

// Every effect, whatever the door, can fail without being done, and after it
// was done.
func TestEveryEffectCanFail(t *testing.T) {
	all, err := everyDoor(t, fault.Wrap(memory.New(options()).Host(), fault.Count()))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(all); n++ {
		for name, plan := range map[string]*fault.Plan{"before": fault.FailAt(n, syscall.EIO), "after": fault.FailAfter(n, syscall.EIO)} {
			m := memory.New(options())
			done, err := everyDoor(t, fault.Wrap(m.Host(), plan))
			if !errors.Is(err, syscall.EIO) || len(done) != n-1 || len(plan.Log()) != n {
				t.Errorf("%s %s at %d: %d effects done, error %v", name, all[n-1], n, len(done), err)
			}
			total := 0
			for _, count := range m.Effects() {
				total += count
			}
			if want := map[string]int{"before": n - 1, "after": n}[name]; total != want {
				t.Errorf("%s %s at %d: the host saw %d effects, want %d", name, all[n-1], n, total, want)
			}
		}
	}
}

func TestFileErrorsHaveTheShapeOfTheContract(t *testing.T) {
	h := fault.Wrap(memory.New(options()).Host(), fault.FailAt(1, syscall.ENOSPC))
	err := h.Files.Mkdir("/d", 0o755)
	e, ok := errors.AsType[*fs.PathError](err)
	if !ok || e.Path != "/d" || e.Op != "mkdir" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
	if err := h.Files.Mkdir("/d", 0o755); err != nil {
		t.Errorf("only the first effect was to fail: %v", err)
	}
}

func TestCrashIsTheEnd(t *testing.T) {
	m := memory.New(options())
	plan := fault.CrashAt(2)
	h := fault.Wrap(m.Host(), plan)
	var unwound error
	crash := fault.Recover(func() {
		defer func() {
			unwound = h.Files.Remove("/a")
			_, lockErr := h.Locks.Acquire(t.Context(), host.LockExclusive, host.Holder{})
			unwound = errors.Join(unwound, lockErr)
		}()
		_ = h.Files.Mkdir("/a", 0o755)
		_ = h.Files.Mkdir("/b", 0o755)
		t.Error("the program lives on")
	})
	if crash == nil || crash.Effect.Name != "/b" || !strings.Contains(crash.Error(), "2: mkdir /b") || !plan.Died() {
		t.Fatalf("the crash is %v", crash)
	}
	if !errors.Is(unwound, fault.ErrDead) || len(plan.Log()) != 2 {
		t.Errorf("while the program died: %v, %v", unwound, plan.Log())
	}
	if _, err := m.Host().Files.Stat("/a"); err != nil {
		t.Error("what was done before the crash is gone, or a dead program removed it")
	}
	if _, err := m.Host().Files.Stat("/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the effect of the crash was done")
	}
}

func TestCrashAfter(t *testing.T) {
	m := memory.New(options())
	h := fault.Wrap(m.Host(), fault.CrashAfter(1))
	if fault.Recover(func() { _ = h.Files.Mkdir("/a", 0o755) }) == nil {
		t.Fatal("no crash")
	}
	if _, err := m.Host().Files.Stat("/a"); err != nil {
		t.Error("the effect was not done")
	}
}

func TestRecoverLeavesOtherPanics(t *testing.T) {
	if fault.Recover(func() {}) != nil {
		t.Error("a program that returned has crashed")
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("recovered %v", r)
		}
	}()
	fault.Recover(func() { panic("other") })
}

func TestHook(t *testing.T) {
	m := memory.New(options())
	var at fault.Effect
	h := fault.Wrap(m.Host(), fault.HookAt(2, func(e fault.Effect) {
		at = e
		m.PowerLoss(nil)
	}))
	_ = h.Files.Mkdir("/a", 0o755)
	if err := h.Files.Mkdir("/b", 0o755); err != nil {
		t.Errorf("the effect after the hook: %v", err)
	}
	if _, err := h.Files.Stat("/a"); !errors.Is(err, fs.ErrNotExist) || at.N != 2 {
		t.Errorf("the hook ran at %v", at)
	}
}

func TestOnlyAndFrom(t *testing.T) {
	plan := fault.FailAt(2, syscall.ENOSPC).Only(func(e fault.Effect) bool { return e.Kind == "mkdir" }).From()
	h := fault.Wrap(memory.New(options()).Host(), plan)
	var got []bool
	for _, name := range []string{"/a", "/b", "/c"} {
		got = append(got, h.Files.Mkdir(name, 0o755) == nil, h.Files.SymlinkIfPossible("x", name+"l") == nil)
	}
	if want := []bool{true, true, false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("succeeded: %v, want %v", got, want)
	}
	if len(plan.Log()) != 6 {
		t.Errorf("%d effects are logged, want all 6", len(plan.Log()))
	}
}

func TestInsideMachines(t *testing.T) {
	plan := fault.FailAt(4, syscall.EIO)
	h := fault.Wrap(memory.New(options()).Host(), plan)
	in, err := h.Machines.Host(t.Context(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	_ = h.Files.Mkdir("/a", 0o755)
	_ = in.Files.Mkdir("/a", 0o755)
	v, err := h.Machines.View(t.Context(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	if err := host.SyncDir(v.Files, "/a"); err != nil {
		t.Error(err)
	}
	if err := in.Units.Run(t.Context(), host.JobStart, "k.service"); !errors.Is(err, syscall.EIO) {
		t.Errorf("the fault inside: %v", err)
	}
	var got []string
	for _, e := range plan.Log() {
		got = append(got, e.String())
	}
	want := []string{"1: mkdir /a", "2: mkdir /a in machine kube1", "3: sync /a in machine kube1", "4: unit start k.service in machine kube1"}
	if !slices.Equal(got, want) {
		t.Errorf("logged %q, want %q", got, want)
	}
	if _, err := h.Machines.Host(t.Context(), "none"); !errors.Is(err, host.ErrNoMachine) {
		t.Errorf("no such machine: %v", err)
	}
	if _, err := h.Machines.View(t.Context(), "none"); !errors.Is(err, host.ErrNoMachine) {
		t.Errorf("no such machine: %v", err)
	}
}

// plainFiles is a file door without host.Special.
type plainFiles struct{ host.Files }

func TestOffersWhatTheHostOffers(t *testing.T) {
	h := memory.New(options()).Host()
	h.Files = plainFiles{h.Files}
	w := fault.Wrap(h, fault.Count())
	if _, ok := w.Files.(host.Special); ok {
		t.Error("host.Special is offered although the host has none")
	}
	if _, ok := w.Files.(host.RealDir); ok {
		t.Error("host.RealDir is offered")
	}
}

// TestGentle: a program of several goroutines dies without a panic, and has no
// effect any more.
func TestGentle(t *testing.T) {
	for name, make := range map[string]func(*memory.Memory) *fault.Plan{
		"before": func(*memory.Memory) *fault.Plan { return fault.CrashAt(2).Gently() },
		"after":  func(*memory.Memory) *fault.Plan { return fault.CrashAfter(2).Gently() },
		"power": func(m *memory.Memory) *fault.Plan {
			return fault.LoseAt(2, func(fault.Effect) { m.PowerLoss(memory.LoseMost) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			p := make(m)
			h := fault.Wrap(m.Host(), p)
			first, second, third := h.Files.Mkdir("/srv/a", 0o755), h.Files.Mkdir("/srv/b", 0o755), h.Files.Mkdir("/srv/c", 0o755)
			if first == nil && name != "power" {
				_, err := m.Host().Files.Stat("/srv/b")
				if done := err == nil; done != (name == "after") {
					t.Errorf("the effect was done: %v", done)
				}
			}
			if !errors.Is(second, fault.ErrDead) || !errors.Is(third, fault.ErrDead) || !p.Died() {
				t.Errorf("errors %v, %v; dead: %v", second, third, p.Died())
			}
			if _, err := m.Host().Files.Stat("/srv/c"); err == nil {
				t.Error("a dead program has an effect")
			}
		})
	}
}
