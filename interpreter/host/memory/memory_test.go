package memory_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// box is a host under test with short ways to use it.
type box struct {
	*testing.T
	*memory.Memory
	host.Host
}

func newBox(t *testing.T, o memory.Options) box {
	t.Helper()
	m := memory.New(o)
	return box{t, m, m.Host()}
}

// within is the box with the doors of a machine.
func (b box) within(machine string) box {
	b.Helper()
	h, err := b.Machines.Host(b.Context(), machine)
	b.ok(err)
	return box{b.T, b.Memory, h}
}

func (b box) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("unexpected error: %v", err)
	}
}

func (b box) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("error is %v, want %v", err, want)
	}
}

func (b box) put(name, content string) {
	b.Helper()
	b.ok(host.Replace(b.Files, name, host.Content{Bytes: []byte(content), Mode: 0o644}))
}

// read returns what a file holds, or the error as text.
func (b box) read(name string) string {
	b.Helper()
	f, err := b.Files.Open(name)
	if err != nil {
		return err.Error()
	}
	data, err := io.ReadAll(f)
	b.ok(errors.Join(err, f.Close()))
	return string(data)
}

func (b box) there(name string) bool {
	b.Helper()
	_, err := host.Lstat(b.Files, name)
	if err != nil && !host.Absent(err) {
		b.Fatal(err)
	}
	return err == nil
}

func (b box) unit(name string) host.UnitState {
	b.Helper()
	u, err := b.Units.Unit(b.Context(), name)
	b.ok(err)
	return u
}

func (b box) state(name string) string {
	b.Helper()
	return b.unit(name).ActiveState
}

func (b box) run(verb host.JobVerb, name string) {
	b.Helper()
	b.ok(b.Units.Run(b.Context(), verb, name))
}

func (b box) jobResult(verb host.JobVerb, name string) host.JobResult {
	b.Helper()
	err := b.Units.Run(b.Context(), verb, name)
	if err == nil {
		return "done"
	}
	e, ok := errors.AsType[*host.JobError](err)
	if !ok {
		b.Fatalf("%s of %s: %v is no *host.JobError", verb, name, err)
	}
	return e.Result
}

func (b box) same(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("got %q, want %q", got, want)
	}
}

func TestNewIsQuiet(t *testing.T) {
	b := newBox(t, memory.Options{})
	if e := b.Effects(); len(e) != 0 {
		t.Errorf("a new host has seen effects: %v", e)
	}
	s, err := b.Units.Manager(t.Context())
	b.ok(err)
	if s.State != "running" || s.Version != 252 {
		t.Errorf("the manager is %+v", s)
	}
	if !b.Identity.Live || !b.Identity.Privileged || b.Identity.Root != "/" {
		t.Errorf("identity %+v", b.Identity)
	}
	if !strings.Contains(b.read("/etc/os-release"), "debian") {
		t.Errorf("os-release: %s", b.read("/etc/os-release"))
	}
}

func TestOptionsMakeTheTree(t *testing.T) {
	b := newBox(t, memory.Options{
		OSRelease:   "ID=azurelinux\n",
		Executables: []string{"nft", "/usr/sbin/zz"},
		Files: map[string]memory.File{
			"/etc/a/b":     {Content: "text", Mode: 0o600, UID: 5, GID: 6},
			"/etc/link":    {Link: "a/b"},
			"/srv/d":       {Dir: true, Mode: 0o2750, GID: 7},
			"/usr/bin/cap": {Mode: 0o4755, Xattrs: map[string]string{"security.capability": "x"}},
		},
	})
	got := b.Snapshot()
	for name, want := range map[string]memory.Entry{
		"/etc/link":       {Kind: "link", Mode: 0o777, Target: "a/b"},
		"/srv/d":          {Kind: "dir", Mode: 0o2750, GID: 7},
		"/usr/lib":        {Kind: "dir", Mode: 0o755},
		"/tmp":            {Kind: "dir", Mode: 0o1777},
		"/etc/os-release": {Kind: "link", Mode: 0o777, Target: "../usr/lib/os-release"},
	} {
		if got[name] != want {
			t.Errorf("%s is %+v, want %+v", name, got[name], want)
		}
	}
	ab := got["/etc/a/b"]
	if ab.Kind != "file" || ab.Mode != 0o600 || ab.UID != 5 || ab.GID != 6 ||
		ab.Digest != "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1" {
		t.Errorf("/etc/a/b is %+v", ab)
	}
	if c := got["/usr/bin/cap"]; c.Mode != 0o4755 || c.Xattrs != `security.capability="x"` {
		t.Errorf("/usr/bin/cap is %+v", c)
	}
	for _, tool := range []string{"nft", "zz", "true", "systemd-nspawn"} {
		if _, err := host.LookTool(b.Files, tool); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if b.read("/etc/os-release") != "ID=azurelinux\n" {
		t.Errorf("os-release: %q", b.read("/etc/os-release"))
	}
}

func TestOptionsThatContradictThemselvesPanic(t *testing.T) {
	for name, o := range map[string]memory.Options{
		"file below a file":      {Files: map[string]memory.File{"/a": {}, "/a/b": {}}},
		"directory over a file":  {Files: map[string]memory.File{"/bin/true": {Dir: true}}},
		"read-only over a file":  {ReadOnly: []string{"/usr/bin/true/x"}},
		"bind file missing":      {BindFiles: []string{"/etc/nowhere"}},
		"unit that cannot run":   {Units: []memory.Unit{{Name: "a.service", Content: "[Service]\n", Running: true}}},
		"machine without a root": {Machines: []memory.Machine{{Name: "m", OSRelease: "none", Running: true}}},
		"mount over a file":      {Mounts: []memory.Mount{{Point: "/usr/bin/true/x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "memory host: options ") {
					t.Errorf("panic is %v, want one that names the options", r)
				}
			}()
			memory.New(o)
		})
	}
}

func TestSnapshotAndDifference(t *testing.T) {
	b := newBox(t, memory.Options{})
	before := b.Snapshot("/run")
	b.put("/etc/new", "x")
	b.ok(b.Files.Chmod("/etc/passwd", 0o600))
	b.ok(b.Files.Remove("/etc/group"))
	b.put("/run/x", "not looked at")
	s, ok := b.Files.(host.Special)
	if !ok {
		t.Fatal("no host.Special")
	}
	b.ok(s.Mknod("/dev/fifo", syscall.S_IFIFO|0o600, 0))
	b.ok(s.Mknod("/dev/sock", syscall.S_IFSOCK|0o600, 0))
	b.ok(s.Mknod("/dev/blk", syscall.S_IFBLK|0o600, 7))
	b.ok(s.Mknod("/dev/chr", syscall.S_IFCHR|0o600, 8))
	after := b.Snapshot("/run")
	b.same(memory.Difference(before, after), "+/dev/blk", "+/dev/chr", "+/dev/fifo", "+/dev/sock", "-/etc/group", "+/etc/new", "~/etc/passwd")
	if e := after["/dev/blk"]; e.Kind != "block" || e.Device != 7 {
		t.Errorf("block device is %+v", e)
	}
	for name, kind := range map[string]string{"/dev/chr": "char", "/dev/fifo": "fifo", "/dev/sock": "socket"} {
		if after[name].Kind != kind {
			t.Errorf("%s is a %s", name, after[name].Kind)
		}
	}
	for _, kind := range []string{"/dev/blk", "/dev/chr", "/dev/fifo", "/dev/sock"} {
		if _, err := b.Files.Stat(kind); err != nil {
			t.Error(err)
		}
	}
}

func TestEffectsAreCountedByDoor(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service"}}, Kernel: memory.Kernel{Sysctl: map[string]string{"a.b": "1"}}})
	ctx := t.Context()
	_, _ = b.Files.Open("/etc/passwd")
	_, _ = b.Files.Stat("/etc/passwd")
	b.unit("a.service")
	_, _ = b.Machines.Registered(ctx)
	_, _ = b.Kernel.Sysctl(ctx, "a.b")
	if e := b.Effects(); len(e) != 0 {
		t.Errorf("looking is counted: %v", e)
	}
	_ = b.Files.Mkdir("/etc", 0o755) // fails and counts
	b.ok(b.Files.Mkdir("/x", 0o755))
	b.run(host.JobStart, "a.service")
	b.ok(b.Units.Reload(ctx))
	b.ok(b.Kernel.SetSysctl(ctx, "a.b", "2"))
	b.ok(b.Machines.Terminate(ctx, "none"))
	b.ok(b.Network.DeleteLink(ctx, "none"))
	_, err := b.Commands.Run(ctx, host.Command{Argv: []string{"true"}})
	b.ok(err)
	release, err := b.Locks.Acquire(ctx, host.LockExclusive, host.Holder{PID: 1})
	b.ok(err)
	b.ok(release())
	want := map[string]int{"files": 2, "units": 2, "kernel": 1, "machines": 1, "network": 1, "commands": 1, "locks": 1}
	for door, n := range want {
		if got := b.Effects()[door]; got != n {
			t.Errorf("%d effects through %s, want %d", got, door, n)
		}
	}
	b.ResetEffects()
	if e := b.Effects(); len(e) != 0 {
		t.Errorf("after ResetEffects: %v", e)
	}
}

func TestClockMovesOnlyWhenAsked(t *testing.T) {
	start := time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)
	b := newBox(t, memory.Options{Start: start})
	now, mono := b.Clock.Now(), b.Clock.Monotonic()
	if now.Before(start) || now.Sub(start) > time.Minute || mono <= 0 {
		t.Errorf("it is %v, %v since boot", now, mono)
	}
	if b.Clock.Now() != now {
		t.Error("the clock runs by itself")
	}
	b.ok(b.Clock.Sleep(t.Context(), time.Hour))
	if b.Clock.Now().Sub(now) != time.Hour || b.Clock.Monotonic()-mono != time.Hour {
		t.Errorf("an hour later it is %v, %v since boot", b.Clock.Now(), b.Clock.Monotonic())
	}
	b.Advance(time.Minute)
	if b.Clock.Monotonic()-mono != 61*time.Minute {
		t.Error("Advance does not move the clock")
	}
	b.Reboot()
	if b.Clock.Monotonic() > mono || !b.Clock.Now().After(now.Add(61*time.Minute)) {
		t.Errorf("after a reboot it is %v, %v since boot", b.Clock.Now(), b.Clock.Monotonic())
	}
}

func TestLocksDieWithTheProgram(t *testing.T) {
	b := newBox(t, memory.Options{})
	holder := host.Holder{PID: 7, Command: "hostler apply"}
	take := func() error {
		_, err := b.Locks.Acquire(t.Context(), host.LockExclusive, holder)
		return err
	}
	b.ok(take())
	e, ok := errors.AsType[*host.HeldError](take())
	if !ok || e.Holder == nil || e.Holder.PID != 7 || !strings.Contains(e.Error(), "/run/hostler/lock") {
		t.Errorf("a held lock gives %v", e)
	}
	if !b.there("/run/hostler/lock") {
		t.Error("there is no lock file")
	}
	b.Crash()
	b.ok(take())
	b.PowerLoss(nil)
	b.ok(take())
}
