package hosttest

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// modeCases are about permissions, owners and times.
func modeCases() map[string]func(tree) {
	return map[string]func(tree){
		"modes are exact whatever the umask": exactModes,
		"chmod sets all twelve bits":         twelveBits,
		"opening keeps the mode":             openKeepsMode,
		"owners":                             owners,
		"chown clears setuid and setgid":     chownClearsSetuid,
		"the owner of a link":                linkOwner,
		"times in nanoseconds":               times,
		"a FileInfo is a snapshot":           snapshot,
	}
}

// withUmask sets the process's umask, which is why the suite's cases are not
// parallel.
func withUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func exactModes(x tree) {
	withUmask(x.T, 0o077)
	for _, mode := range []uint32{0o777, 0o666, 0o644, 0o600, 0o755, 0o2775, 0o1777, 0o4755} {
		f, err := x.fs.OpenFile(at("file"), syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, host.FileMode(mode))
		x.ok(err)
		x.ok(f.Close())
		x.hasMode("file", mode)
		x.ok(x.fs.Mkdir(at("dir"), host.FileMode(mode)))
		x.hasMode("dir", mode)
		x.ok(x.fs.MkdirAll(at("all/of/these"), host.FileMode(mode|0o700)))
		for _, name := range []string{"all", "all/of", "all/of/these"} {
			x.hasMode(name, mode|0o700)
		}
		for _, name := range []string{"file", "dir", "all"} {
			x.ok(x.fs.RemoveAll(at(name)))
		}
	}
	f, err := x.fs.Create(at("created"))
	x.ok(err)
	x.ok(f.Close())
	x.hasMode("created", 0o666)
}

func twelveBits(x tree) {
	x.write("file", "")
	x.mkdir("dir")
	for _, mode := range []uint32{0o7777, 0o4711, 0o2711, 0o1711, 0o640, 0o700} {
		for _, name := range []string{"file", "dir"} {
			x.ok(x.fs.Chmod(at(name), host.FileMode(mode)))
			x.hasMode(name, mode)
		}
	}
	if !x.lstat("dir").IsDir() || !x.lstat("file").Mode().IsRegular() {
		x.Error("chmod changed a type")
	}
}

func openKeepsMode(x tree) {
	x.write("file", "x")
	x.ok(x.fs.Chmod(at("file"), 0o640))
	x.write("file", "y")
	f, err := x.fs.Create(at("file"))
	x.ok(err)
	x.ok(f.Close())
	x.hasMode("file", 0o640)
	x.holds("file", "")
	x.mkdir("dir")
	x.ok(x.fs.Chmod(at("dir"), 0o700))
	x.ok(x.fs.MkdirAll(at("dir"), 0o777))
	x.hasMode("dir", 0o700)
}

func (x tree) ownedBy(name string, uid, gid int) {
	x.Helper()
	if st := host.StatOf(x.lstat(name)); st.UID != uid || st.GID != gid {
		x.Errorf("%s belongs to %d:%d, want %d:%d", name, st.UID, st.GID, uid, gid)
	}
}

func owners(x tree) {
	x.write("file", "")
	x.mkdir("dir")
	x.link("file", "link")
	for _, name := range []string{"file", "dir", "link"} {
		x.ownedBy(name, 0, 0)
		x.ok(x.fs.Lchown(at(name), 0, 0))
		x.ownedBy(name, 0, 0)
	}
	if x.ownersChange() {
		x.ok(x.fs.Lchown(at("file"), 4711, 42))
		x.ownedBy("file", 4711, 42)
		x.ok(x.fs.Chown(at("link"), 12, 34))
		x.ownedBy("file", 12, 34)
		x.ownedBy("link", 0, 0)
		return
	}
	for what, err := range map[string]error{
		"Lchown": x.fs.Lchown(at("file"), 4711, 42),
		"Chown":  x.fs.Chown(at("link"), 4711, 42),
	} {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "root") {
			x.Errorf("%s to another owner: %v, want a permission error that says root is needed", what, err)
		}
	}
	x.ownedBy("file", 0, 0)
}

func chownClearsSetuid(x tree) {
	x.write("file", "")
	x.ok(x.fs.Chmod(at("file"), host.FileMode(0o6755)))
	x.ok(x.fs.Lchown(at("file"), 0, 0))
	x.hasMode("file", 0o755)
	x.mkdir("dir")
	x.ok(x.fs.Chmod(at("dir"), host.FileMode(0o2755)))
	x.ok(x.fs.Lchown(at("dir"), 0, 0))
	x.hasMode("dir", 0o2755) // directories keep it
}

func linkOwner(x tree) {
	x.write("file", "")
	x.link("file", "link")
	if !x.ownersChange() {
		if err := x.fs.Lchown(at("link"), 5, 6); !errors.Is(err, fs.ErrPermission) {
			x.Errorf("Lchown of a link to another owner: %v", err)
		}
		return
	}
	x.ok(x.fs.Lchown(at("link"), 5, 6))
	x.ownedBy("link", 5, 6)
	x.ownedBy("file", 0, 0)
	x.link("nowhere", "dangling")
	x.ok(x.fs.Lchown(at("dangling"), 7, 8))
	x.ownedBy("dangling", 7, 8)
}

func times(x tree) {
	x.write("file", "content")
	x.mkdir("dir")
	for _, when := range []time.Time{time.Unix(0, 0), time.Unix(1e9, 123456789), time.Date(2033, 1, 2, 3, 4, 5, 6, time.UTC)} {
		for _, name := range []string{"file", "dir"} {
			x.ok(x.fs.Chtimes(at(name), time.Unix(5, 0), when))
			if got := x.lstat(name).ModTime(); !got.Equal(when) {
				x.Errorf("%s: time %v, want %v", name, got, when)
			}
		}
	}
	x.write("file", "changed")
	if got := x.lstat("file").ModTime(); got.Year() == 2033 {
		x.Error("writing does not change the time")
	}
}

func snapshot(x tree) {
	x.write("file", "content")
	before := x.lstat("file")
	held, err := x.fs.Stat(at("file"))
	x.ok(err)
	x.write("file", "a longer content")
	x.ok(x.fs.Chmod(at("file"), 0o600))
	x.ok(x.fs.Link(at("file"), at("second")))
	for _, info := range []fs.FileInfo{before, held} {
		if info.Size() != 7 || info.Mode() != 0o644 || host.StatOf(info).Nlink != 1 || info.Name() != "file" {
			x.Errorf("an earlier FileInfo has changed: %s %d %v %d", info.Name(), info.Size(), info.Mode(), host.StatOf(info).Nlink)
		}
		if _, ok := info.Sys().(*syscall.Stat_t); !ok {
			x.Errorf("Sys is a %T, want *syscall.Stat_t", info.Sys())
		}
	}
	if st := host.StatOf(before); st.Ino == 0 {
		x.Error("the file has no inode number")
	}
	if _, ok, _ := x.fs.LstatIfPossible(at("file")); !ok {
		x.Error("LstatIfPossible says that it has followed a link")
	}
}
