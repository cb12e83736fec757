package fault_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
)

const target = "/etc/app.conf"

// A way is an algorithm that puts new content in place of old.
type way func(f host.Files) error

func full(f host.Files) error {
	return host.Replace(f, target, host.Content{Bytes: []byte("new content"), Mode: 0o640, UID: 3, GID: 4})
}

// hasty is host.Replace with parts left out.
func hasty(syncFile, syncDir bool) way {
	return func(f host.Files) error {
		file, err := f.OpenFile("/etc/.tmp", syscall.O_WRONLY|syscall.O_CREAT, 0o640)
		if err != nil {
			return err
		}
		_, err = file.Write([]byte("new content"))
		if syncFile {
			err = errors.Join(err, file.Sync())
		}
		err = errors.Join(err, file.Close(), f.Lchown("/etc/.tmp", 3, 4), f.Rename("/etc/.tmp", target))
		if syncDir {
			err = errors.Join(err, host.SyncDir(f, "/etc"))
		}
		return err
	}
}

func oldHost() *memory.Memory {
	return memory.New(memory.Options{Files: map[string]memory.File{target: {Content: "old content", Mode: 0o600}}})
}

// content is "old", "new" or what else is found, with mode and owner wrong
// counted as something else.
func content(t *testing.T, h host.Host) string {
	t.Helper()
	f, err := h.Files.Open(target)
	if err != nil {
		return err.Error()
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	st := host.StatOf(info)
	switch mode := host.ModeBits(info.Mode()); {
	case string(b) == "old content" && mode == 0o600 && st.UID == 0:
		return "old"
	case string(b) == "new content" && mode == 0o640 && st.UID == 3 && st.GID == 4:
		return "new"
	case len(b) == 0:
		return "empty"
	default:
		return "torn"
	}
}

// afterPowerLoss are the contents that may be found when the power goes while
// the way runs, and when it goes after its success.
func afterPowerLoss(t *testing.T, w way) (during, after string) {
	t.Helper()
	plan := fault.Count()
	if err := w(fault.Wrap(oldHost().Host(), plan).Files); err != nil {
		t.Fatal(err)
	}
	all := len(plan.Log())
	var seen [2][]string
	for n := 1; n <= all+1; n++ {
		memory.EveryChoice(func(choose func(int) int) {
			m := oldHost()
			h := fault.Wrap(m.Host(), fault.CrashAt(n))
			crash := fault.Recover(func() {
				if err := w(h.Files); err != nil {
					t.Fatal(err)
				}
			})
			m.PowerLoss(choose)
			i := 0
			if crash == nil {
				i = 1
			}
			seen[i] = append(seen[i], content(t, m.Host()))
		})
	}
	return distinct(seen[0]), distinct(seen[1])
}

func distinct(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// The simulator tells a correct algorithm from those that forget a sync, and
// host.Replace is a correct one.
func TestPowerLossAtEveryPointOfReplace(t *testing.T) {
	tests := map[string]struct {
		way           way
		during, after string
	}{
		"host.Replace":           {full, "new old", "new"},
		"without directory sync": {hasty(true, false), "old", "new old"},
		"without file sync":      {hasty(false, true), "empty new old torn", "empty new torn"},
		"without any sync":       {hasty(false, false), "old", "empty new old torn"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			during, after := afterPowerLoss(t, tt.way)
			if during != tt.during || after != tt.after {
				t.Errorf("while it runs %q, after its success %q; want %q and %q", during, after, tt.during, tt.after)
			}
		})
	}
}

// A crash of the program alone leaves old or new, and the next run clears up
// what it left.
func TestCrashAtEveryPointOfReplace(t *testing.T) {
	plan := fault.Count()
	if err := full(fault.Wrap(oldHost().Host(), plan).Files); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(plan.Log()); n++ {
		m := oldHost()
		if fault.Recover(func() { _ = full(fault.Wrap(m.Host(), fault.CrashAt(n)).Files) }) == nil {
			t.Fatalf("no crash at %d", n)
		}
		m.Crash()
		if got := content(t, m.Host()); got != "old" && got != "new" {
			t.Errorf("a crash at %s leaves %s", plan.Log()[n-1], got)
		}
		if err := full(m.Host().Files); err != nil {
			t.Errorf("the next run after a crash at %s: %v", plan.Log()[n-1], err)
		}
		if got := content(t, m.Host()); got != "new" || len(temporaries(m)) != 0 {
			t.Errorf("the next run after a crash at %s leaves %s and %q", plan.Log()[n-1], got, temporaries(m))
		}
	}
}

func temporaries(m *memory.Memory) (list []string) {
	for name := range m.Snapshot() {
		if host.IsTemporary(name) {
			list = append(list, name)
		}
	}
	return list
}

// An error at any point leaves old or new and no temporary file. Once the
// rename is done the new file stays, although its durability is in doubt.
func TestErrorsAtEveryPointOfReplace(t *testing.T) {
	plan := fault.Count()
	if err := full(fault.Wrap(oldHost().Host(), plan).Files); err != nil {
		t.Fatal(err)
	}
	renamed := slices.Index(kinds(plan), "rename") + 1
	for _, errno := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		for n := 1; n <= len(plan.Log()); n++ {
			for name, p := range map[string]*fault.Plan{"before": fault.FailAt(n, errno), "after": fault.FailAfter(n, errno)} {
				m := oldHost()
				err := full(fault.Wrap(m.Host(), p).Files)
				if !errors.Is(err, errno) {
					t.Fatalf("%v %s %s: the error is %v", errno, name, plan.Log()[n-1], err)
				}
				want := "old"
				if n > renamed || n == renamed && name == "after" {
					want = "new"
				}
				if got := content(t, m.Host()); got != want {
					t.Errorf("%v %s %s leaves %s, want %s", errno, name, plan.Log()[n-1], got, want)
				}
				if left := temporaries(m); len(left) != 0 {
					t.Errorf("%v %s %s leaves %q", errno, name, plan.Log()[n-1], left)
				}
			}
		}
	}
}

// A disk that stays broken leaves the old file too.
func TestReplaceOnABrokenDisk(t *testing.T) {
	for n := 1; n < 6; n++ {
		m := oldHost()
		if err := full(fault.Wrap(m.Host(), fault.FailAt(n, syscall.EIO).From()).Files); !errors.Is(err, syscall.EIO) {
			t.Errorf("the error is %v", err)
		}
		if got := content(t, m.Host()); got != "old" {
			t.Errorf("from effect %d on: %s", n, got)
		}
	}
}
