package shadow_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
)

const (
	tree     = "/var/lib/machines/kube1"
	unpacked = "image example/worker:1 is not unpacked yet"
)

func marked(t *testing.T, base map[string]string) host.Files {
	t.Helper()
	h, _ := over(t, &still{}, base)
	h.Files.(host.Unknowable).MarkUnknown(tree, unpacked)
	return h.Files
}

func TestUnknownIsReadAsUnknown(t *testing.T) {
	f := marked(t, map[string]string{"var/lib/machines/kube1/etc/hosts": "base"})
	for _, name := range []string{tree, tree + "/etc", tree + "/etc/hosts", tree + "/a/b/c"} {
		_, stat := f.Stat(name)
		_, lstat := host.Lstat(f, name)
		_, open := f.Open(name)
		_, link := f.ReadlinkIfPossible(name)
		_, attr := f.(host.Special).Lgetxattr(name, "user.x")
		_, attrs := f.(host.Special).Llistxattr(name)
		_, append := f.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		for _, err := range []error{stat, lstat, open, link, attr, attrs, append} {
			unknown(t, err, unpacked)
		}
	}
	if info, err := f.Stat("/var/lib/machines"); err != nil || !info.IsDir() {
		t.Errorf("the directory above is unknown too: %v", err)
	}
}

func TestUnknownTakesWrites(t *testing.T) {
	f := marked(t, nil)
	name := tree + "/etc/kubernetes/config"
	must(t, host.Replace(f, name, host.Content{Bytes: []byte("ours"), Mode: 0o640, UID: 5}))
	info, err := host.Lstat(f, name)
	must(t, err)
	if got := read(t, f, name); got != "ours" || host.ModeBits(info.Mode()) != 0o640 || host.StatOf(info).UID != 5 {
		t.Errorf("what was written is %q %v", got, info.Mode())
	}
	must(t, host.Symlink(f, "config", tree+"/etc/kubernetes/link"))
	if got := read(t, f, tree+"/etc/kubernetes/link"); got != "ours" {
		t.Errorf("through the link it is %q", got)
	}
	_, err = f.Stat(tree + "/etc/kubernetes/other")
	unknown(t, err, unpacked)
	_, err = f.Stat(tree + "/etc/kubernetes")
	unknown(t, err, unpacked)
	_, err = afero.ReadDir(f, tree+"/etc/kubernetes")
	unknown(t, err, unpacked)
	_, err = f.OpenFile(tree+"/etc/kubernetes", os.O_WRONLY, 0)
	is(t, err, syscall.EISDIR)
	must(t, f.Remove(name))
	_, err = f.Stat(name)
	is(t, err, fs.ErrNotExist)
}

func TestUnknownTakesChangesOfWhatItHides(t *testing.T) {
	f := marked(t, nil)
	name := tree + "/etc/shipped"
	must(t, f.Chmod(name, 0o600))
	must(t, f.Lchown(name, 1, 1))
	must(t, f.SyncTree(name))
	_, err := f.Stat(name)
	unknown(t, err, unpacked)
	must(t, f.Link(name, tree+"/etc/second"))
	must(t, f.Rename(name, "/kept"))
	_, err = f.Stat(name)
	is(t, err, fs.ErrNotExist)
	_, err = f.Stat("/kept")
	unknown(t, err, unpacked)
	must(t, f.Rename("/kept", name))
	write(t, f, "/ours", "ours")
	must(t, f.Rename("/ours", name))
	if got := read(t, f, name); got != "ours" {
		t.Errorf("moved over what was unknown: %q", got)
	}
	must(t, f.Remove(tree+"/etc/gone"))
	must(t, f.Remove(tree+"/lib"))
	is(t, f.Remove(tree+"/lib"), fs.ErrNotExist)
	must(t, f.Mkdir(tree+"/lib", 0o755))
	if names, err := afero.ReadDir(f, tree+"/lib"); err != nil || len(names) != 0 {
		t.Errorf("a directory made where nothing was: %v %v", names, err)
	}
}

func TestUnknownDirectoryIsKnownOnceMade(t *testing.T) {
	f := marked(t, nil)
	write(t, f, tree+"/opt/a/file", "x")
	must(t, f.MkdirAll(tree+"/opt/a", 0o750))
	info, err := f.Stat(tree + "/opt/a")
	must(t, err)
	if !info.IsDir() || host.ModeBits(info.Mode()) != 0o755 {
		// write made it with MkdirAll already; a second one keeps the mode.
		t.Errorf("the directory is %v", info.Mode())
	}
	_, err = f.Stat(tree + "/opt/a/shipped")
	unknown(t, err, unpacked)
	is(t, f.Remove(tree+"/opt/a"), syscall.ENOTEMPTY)
	must(t, f.Remove(tree+"/opt/a/file"))
	must(t, f.Remove(tree+"/opt/a"))
}

func TestUnknownEndsWithItsRemoval(t *testing.T) {
	f := marked(t, map[string]string{"var/lib/machines/kube1/etc/hosts": "base"})
	must(t, f.RemoveAll(tree))
	_, err := f.Stat(tree)
	is(t, err, fs.ErrNotExist)
	must(t, f.MkdirAll(tree, 0o755))
	_, err = f.Stat(tree + "/etc")
	is(t, err, fs.ErrNotExist)
	f.(host.Unknowable).MarkUnknown(tree, "again")
	must(t, f.RemoveAll("/var/lib"))
	write(t, f, tree+"/etc/hosts", "new")
	if got, err := afero.ReadDir(f, tree+"/etc"); err != nil || len(got) != 1 {
		t.Errorf("after removing the directory above: %v %v", got, err)
	}
}

func TestUnknownMovesAlong(t *testing.T) {
	f := marked(t, nil)
	must(t, f.Rename(tree, tree+"2"))
	_, err := f.Stat(tree)
	is(t, err, fs.ErrNotExist)
	_, err = f.Stat(tree + "2/etc")
	unknown(t, err, unpacked)
}

func TestUnknownFile(t *testing.T) {
	h, s := over(t, &still{}, map[string]string{"usr/bin/ctr": "old", "usr/bin/runc": "= usr/bin/ctr", "file": ""})
	f := h.Files
	mark := f.(host.Unknowable).MarkUnknown
	mark("/usr/bin/ctr", "not downloaded yet")
	mark("/file/below", "impossible")
	_, err := f.Open("/usr/bin/ctr")
	unknown(t, err, "not downloaded yet")
	if got := read(t, f, "/usr/bin/runc"); got != "old" {
		t.Errorf("the other name holds %q", got)
	}
	d, err := f.Open("/usr/bin")
	must(t, err)
	names, err := d.Readdirnames(-1)
	must(t, err)
	if !slices.Equal(names, []string{"ctr", "runc"}) {
		t.Errorf("listed: %q", names)
	}
	_, err = d.Seek(0, 0)
	must(t, err)
	_, err = d.Readdir(-1)
	unknown(t, err, "not downloaded yet")
	_, err = f.Stat("/file/below")
	is(t, err, syscall.ENOTDIR)
	write(t, f, "/usr/bin/ctr", "new")
	if got := read(t, f, "/usr/bin/ctr"); got != "new" {
		t.Errorf("once written it holds %q", got)
	}
	if got := s.Effects()[0]; got != (shadow.Effect{Kind: "unknown", Name: "/usr/bin/ctr"}) {
		t.Errorf("first effect is %v", got)
	}
}

// stuck is a base whose files below /net cannot be reached.
type stuck struct{ host.FileView }

var errStuck = &fs.PathError{Op: "lstat", Path: "elsewhere", Err: syscall.EIO}

func (s stuck) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if name == "/net/x" {
		return nil, true, errStuck
	}
	return s.FileView.LstatIfPossible(name)
}

func TestErrorsOfTheBaseNameWhatWasAsked(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"net/": "", "link": "-> net"})
	h := shadow.Over((&still{files: stuck{open(t, dir)}}).view()).Host()
	_, err := h.Files.Stat("/link/x")
	is(t, err, syscall.EIO)
	if pe, ok := errors.AsType[*fs.PathError](err); !ok || pe.Path != "/link/x" {
		t.Errorf("the error is %v", err)
	}
}

func TestNames(t *testing.T) {
	h, _ := over(t, &still{}, map[string]string{"dir/file": "x"})
	for name, want := range map[string]error{
		"": syscall.EINVAL, "dir/file": syscall.EINVAL, "/dir\x00": syscall.EINVAL,
		"/" + string(make([]byte, 5000)): syscall.EINVAL,
	} {
		_, err := h.Files.Stat(name)
		is(t, err, want)
	}
	if got := read(t, h.Files, "/dir/../dir/./file"); got != "x" {
		t.Errorf("read %q", got)
	}
	if got := h.Files.Name(); got != "shadow" {
		t.Errorf("it is called %q", got)
	}
}

func TestDevicesAreNotOpened(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	s := h.Files.(host.Special)
	must(t, s.Mknod("/pipe", syscall.S_IFIFO|0o600, 0))
	must(t, s.Mknod("/null", syscall.S_IFCHR|0o600, 1<<8|3))
	must(t, s.Mknod("/socket", syscall.S_IFSOCK|0o600, 0))
	must(t, s.Mknod("/file", 0o600, 0))
	_, err := h.Files.Open("/pipe")
	is(t, err, syscall.ENXIO)
	_, err = h.Files.Open("/null")
	unknown(t, err, "/null is a device, which a plan does not open")
	_, err = h.Files.Open("/socket")
	is(t, err, syscall.ENXIO)
	_, err = h.Files.Open("/file")
	must(t, err)
	is(t, s.Mknod("/x", syscall.S_IFDIR|0o700, 0), syscall.EPERM)
	is(t, s.Mknod("/x", syscall.S_IFLNK|0o700, 0), syscall.EINVAL)
	is(t, s.Lsetxattr("/pipe", "user.x", nil), syscall.EPERM)
	is(t, s.Lsetxattr("/file", "odd.x", nil), syscall.EOPNOTSUPP)
	_, err = h.Files.OpenFile("/", 0o20200000|os.O_RDWR, 0o600)
	is(t, err, syscall.EOPNOTSUPP)
}

func TestSetgidDirectoryGivesItsGroup(t *testing.T) {
	h, _ := over(t, &still{}, nil)
	f := h.Files
	must(t, f.Mkdir("/shared", 0o755))
	must(t, f.Lchown("/shared", 0, 42))
	must(t, f.Chmod("/shared", host.FileMode(0o2775)))
	must(t, f.Mkdir("/shared/sub", 0o755))
	info, err := f.Stat("/shared/sub")
	must(t, err)
	if host.StatOf(info).GID != 42 {
		t.Errorf("the group is %d", host.StatOf(info).GID)
	}
	if err := f.Chtimes("/shared", time.Time{}, time.Time{}); err != nil {
		t.Error(err)
	}
}

func TestWriteOpenFilesOfTheBaseLazily(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"big": ""})
	must(t, os.Truncate(dir+"/big", 1<<40))
	h := shadow.Over((&still{files: open(t, dir)}).view()).Host()
	f, err := h.Files.OpenFile("/big", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("middle"), 1<<39)
	must(t, err)
	buf := make([]byte, 8)
	_, err = f.ReadAt(buf, 1<<39-1)
	must(t, err)
	if string(buf) != "\x00middle\x00" {
		t.Errorf("read %q", buf)
	}
	info, err := f.Stat()
	must(t, errors.Join(err, f.Close()))
	if info.Size() != 1<<40 {
		t.Errorf("size %d", info.Size())
	}
}
