package memory_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// states are the sorted, distinct results of look in all states that a power
// loss after act may leave.
func states(t *testing.T, o memory.Options, act func(box), look func(box) string) []string {
	t.Helper()
	var all []string
	memory.EveryChoice(func(choose func(int) int) {
		b := newBox(t, o)
		act(b)
		b.PowerLoss(choose)
		all = append(all, look(b))
	})
	slices.Sort(all)
	return slices.Compact(all)
}

func TestPowerLossStates(t *testing.T) {
	old := memory.Options{Files: map[string]memory.File{"/etc/f": {Content: "old!"}, "/etc/d": {Dir: true}}}
	content := func(b box) string {
		if !b.there("/etc/f") {
			return "absent"
		}
		return b.read("/etc/f")
	}
	write := func(b box, name string, flag int, sync bool) {
		f, err := b.Files.OpenFile(name, syscall.O_WRONLY|flag, 0o644)
		b.ok(err)
		_, err = f.WriteString("new!")
		b.ok(err)
		if sync {
			b.ok(f.Sync())
		}
		b.ok(f.Close())
	}
	rename := func(b box) { b.ok(b.Files.Rename("/etc/t", "/etc/f")) }
	tests := map[string]struct {
		act  func(box)
		want string
	}{
		"nothing":                  {func(box) {}, "old!"},
		"written in place":         {func(b box) { write(b, "/etc/f", 0, false) }, "ned! new! old!"},
		"truncated and written":    {func(b box) { write(b, "/etc/f", syscall.O_TRUNC, false) }, " ne new! old!"},
		"truncated, written, sync": {func(b box) { write(b, "/etc/f", syscall.O_TRUNC, true) }, "new!"},
		"renamed without a sync":   {func(b box) { write(b, "/etc/t", syscall.O_CREAT, false); rename(b) }, " ne new! old!"},
		"renamed, file synced":     {func(b box) { write(b, "/etc/t", syscall.O_CREAT, true); rename(b) }, "new! old!"},
		"renamed, both synced": {func(b box) {
			write(b, "/etc/t", syscall.O_CREAT, true)
			rename(b)
			b.ok(host.SyncDir(b.Files, "/etc"))
		}, "new!"},
		"renamed, only directory synced": {func(b box) {
			write(b, "/etc/t", syscall.O_CREAT, false)
			rename(b)
			b.ok(host.SyncDir(b.Files, "/etc"))
		}, " ne new!"},
		"all synced": {func(b box) {
			write(b, "/etc/t", syscall.O_CREAT, false)
			rename(b)
			b.ok(b.Files.SyncTree("/var"))
		}, "new!"},
		"removed":            {func(b box) { b.ok(b.Files.Remove("/etc/f")) }, "absent old!"},
		"removed and synced": {func(b box) { b.ok(host.Remove(b.Files, "/etc/f")) }, "absent"},
		"moved away, one directory synced": {func(b box) {
			b.ok(b.Files.Rename("/etc/f", "/etc/d/f"))
			b.ok(host.SyncDir(b.Files, "/etc/d"))
		}, "absent"},
		"a synced directory brings the renames into it": {func(b box) {
			write(b, "/etc/d/t", syscall.O_CREAT, true)
			b.ok(b.Files.Rename("/etc/d/t", "/etc/f"))
			b.ok(host.SyncDir(b.Files, "/etc"))
		}, "new!"},
		"shortened": {func(b box) {
			f, err := b.Files.OpenFile("/etc/f", syscall.O_RDWR, 0)
			b.ok(err)
			b.ok(f.Truncate(2))
		}, "ol old!"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(states(t, old, tt.act, content), " "); got != tt.want {
				t.Errorf("states %q, want %q", got, tt.want)
			}
		})
	}
}

// Attributes, links and xattrs are steps of the journal, in order.
func TestPowerLossKeepsTheOrderOfSteps(t *testing.T) {
	got := states(t, memory.Options{Files: map[string]memory.File{"/etc/f": {}}}, func(b box) {
		b.ok(b.Files.Chmod("/etc/f", 0o600))
		b.ok(b.Files.Link("/etc/f", "/etc/g"))
		b.ok(b.Files.(host.Special).Lsetxattr("/etc/g", "user.a", []byte("1")))
	}, func(b box) string {
		var s []string
		for _, name := range []string{"/etc/f", "/etc/g"} {
			if e, ok := b.Snapshot()[name]; ok {
				info, err := host.Lstat(b.Files, name)
				b.ok(err)
				s = append(s, info.Mode().String()+" "+string(rune('0'+host.StatOf(info).Nlink))+" "+e.Xattrs)
			}
		}
		return strings.Join(s, ", ")
	})
	if want := []string{
		"-rw------- 1 ", "-rw------- 2 , -rw------- 2 ", `-rw------- 2 user.a="1", -rw------- 2 user.a="1"`, "-rw-r--r-- 1 ",
	}; !slices.Equal(got, want) {
		t.Errorf("states %q, want %q", got, want)
	}
}

func TestPowerLossForgets(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "on.service", Enabled: true}, {Name: "off.service", Running: true}}})
	b.put("/run/debt", "x")
	f, err := b.Files.Open("/etc/passwd")
	b.ok(err)
	first := b.unit("on.service")
	if b.state("off.service") != "active" || first.ActiveState != "active" {
		t.Fatal("the options' units do not run")
	}
	b.PowerLoss(nil)
	if b.there("/run/debt") || !b.there("/run") {
		t.Error("/run was not emptied")
	}
	if b.state("off.service") != "inactive" || b.state("on.service") != "active" {
		t.Error("after a boot exactly the enabled units run")
	}
	if b.unit("on.service").InvocationID == first.InvocationID {
		t.Error("the invocation has not changed with the boot")
	}
	_, err = f.Stat()
	b.is(err, fs.ErrClosed)
	_, err = f.Read(make([]byte, 1))
	b.is(err, fs.ErrClosed)
}

func TestCrashKeepsTheHost(t *testing.T) {
	b := newBox(t, memory.Options{Units: []memory.Unit{{Name: "a.service", Running: true}}, Mounts: []memory.Mount{{Point: "/mnt/x"}}})
	f, err := b.Files.Create("/mnt/x/f")
	b.ok(err)
	_, err = f.WriteString("not synced")
	b.ok(err)
	b.put("/run/debt", "x")
	id := b.unit("a.service").InvocationID
	b.Crash()
	if b.read("/mnt/x/f") != "not synced" || !b.there("/run/debt") || b.unit("a.service").InvocationID != id {
		t.Error("the crash of the program changed the host")
	}
	_, err = f.WriteString("more")
	b.is(err, fs.ErrClosed)
	b.ok(b.Kernel.Unmount(t.Context(), "/mnt/x")) // the dead program holds nothing open
}

func TestRebootSyncsFirst(t *testing.T) {
	b := newBox(t, memory.Options{})
	f, err := b.Files.Create("/etc/f")
	b.ok(err)
	_, err = f.WriteString("whole")
	b.ok(errors.Join(err, f.Close()))
	b.Reboot()
	if got := b.read("/etc/f"); got != "whole" {
		t.Errorf("after a reboot the file holds %q", got)
	}
}

func TestKeepMost(t *testing.T) {
	b := newBox(t, memory.Options{})
	for _, name := range []string{"/etc/a", "/etc/b"} {
		f, err := b.Files.Create(name)
		b.ok(err)
		_, err = f.WriteString("whole")
		b.ok(errors.Join(err, f.Close()))
	}
	b.PowerLoss(memory.KeepMost)
	if b.read("/etc/a") != "whole" || b.read("/etc/b") != "whole" {
		t.Error("KeepMost loses something")
	}
}

func TestOfflinePowerLoss(t *testing.T) {
	b := newBox(t, memory.Options{Offline: true})
	b.ok(b.Files.Mkdir("/etc/x", 0o755))
	b.put("/etc/y", "durable")
	b.ok(b.Files.Mkdir("/etc/z", 0o755))
	b.PowerLoss(nil)
	if !b.there("/etc/x") || b.read("/etc/y") != "durable" || b.there("/etc/z") {
		t.Error("an offline root loses what was not synced and keeps the rest")
	}
}

func TestEveryChoiceSeesEverySequence(t *testing.T) {
	var seen []string
	memory.EveryChoice(func(choose func(int) int) {
		s := ""
		for range 1 + choose(2) {
			s += string(rune('a' + choose(3)))
		}
		_ = choose(0)
		seen = append(seen, s)
	})
	if want := "a b c aa ab ac ba bb bc ca cb cc"; strings.Join(seen, " ") != want {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// A file that was opened and removed is gone after a power loss, and an
// unsynced mount point is made again.
func TestPowerLossOddities(t *testing.T) {
	b := newBox(t, memory.Options{
		ReadOnly:  []string{"/usr"},
		Mounts:    []memory.Mount{{Point: "/mnt/a/b", Type: "ext4"}},
		BindFiles: []string{"/etc/hosts"}, Files: map[string]memory.File{"/etc/hosts": {Content: "bound"}},
	})
	f, err := b.Files.Create("/etc/open")
	b.ok(err)
	_, err = f.WriteString("x")
	b.ok(errors.Join(err, f.Sync(), b.Files.Remove("/etc/open")))
	b.ok(b.Mount(memory.Mount{Point: "/mnt/late"}))
	b.PowerLoss(memory.KeepMost)
	if b.there("/etc/open") || b.read("/etc/hosts") != "bound" || !b.there("/mnt/a/b") {
		t.Error("the tree after the power loss is wrong")
	}
	b.is(b.Files.Mkdir("/usr/x", 0o755), syscall.EROFS)
	b.ok(b.Files.RemoveAll("/mnt/late")) // what was mounted by hand is not mounted again
}
