package memory_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestReadOnlyMount(t *testing.T) {
	b := newBox(t, memory.Options{ReadOnly: []string{"/usr"}, Files: map[string]memory.File{
		"/usr/lib/file": {Content: "kept"}, "/etc/file": {}, "/etc/into": {Link: "/usr/lib/file"}}})
	f, special := b.Files, b.Files.(host.Special)
	open := func(name string, flag int) error { _, err := f.OpenFile(name, flag, 0o644); return err }
	when := time.Unix(1, 0)
	for what, got := range map[string]error{
		"create":             open("/usr/lib/new", syscall.O_CREAT|syscall.O_WRONLY),
		"open for writing":   open("/usr/lib/file", syscall.O_WRONLY),
		"open through link":  open("/etc/into", syscall.O_WRONLY),
		"truncate":           open("/usr/lib/file", syscall.O_TRUNC),
		"mkdir":              f.Mkdir("/usr/lib/new", 0o755),
		"symlink":            f.SymlinkIfPossible("x", "/usr/lib/new"),
		"remove":             f.Remove("/usr/lib/file"),
		"remove what is not": f.Remove("/usr/lib/none"),
		"removeall":          f.RemoveAll("/usr/lib"),
		"rename":             f.Rename("/usr/lib/file", "/usr/lib/other"),
		"link":               f.Link("/usr/lib/file", "/usr/lib/other"),
		"chmod":              f.Chmod("/usr/lib/file", 0o600),
		"chown":              f.Lchown("/usr/lib/file", 1, 1),
		"chtimes":            f.Chtimes("/usr/lib/file", when, when),
		"xattr":              special.Lsetxattr("/usr/lib/file", "user.x", nil),
		"mknod":              special.Mknod("/usr/lib/new", syscall.S_IFIFO, 0),
	} {
		if !errors.Is(got, syscall.EROFS) {
			t.Errorf("%s: %v, want EROFS", what, got)
		}
	}
	b.is(f.Mkdir("/usr/lib", 0o755), syscall.EEXIST)
	b.is(f.Rename("/etc/file", "/usr/lib/moved"), syscall.EXDEV)
	b.ok(f.MkdirAll("/usr/lib", 0o755))
	b.ok(f.RemoveAll("/usr/lib/none"))
	if got := b.read("/usr/lib/file"); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
	m, err := b.Storage.Mount(t.Context(), "/usr/local/none/x")
	b.ok(err)
	if !m.ReadOnly || m.Point != "/usr" || m.Type != "ext4" {
		t.Errorf("the mount is %+v", m)
	}
}

func TestBindMountedFile(t *testing.T) {
	b := newBox(t, memory.Options{BindFiles: []string{"/etc/resolv.conf"}, Files: map[string]memory.File{"/etc/resolv.conf": {Content: "old"}}})
	b.is(host.Replace(b.Files, "/etc/resolv.conf", host.Content{Bytes: []byte("new")}), syscall.EBUSY)
	b.is(b.Files.Rename("/etc/resolv.conf", "/etc/other"), syscall.EBUSY)
	b.is(b.Files.Remove("/etc/resolv.conf"), syscall.EBUSY)
	b.is(b.Files.Link("/etc/resolv.conf", "/etc/other"), syscall.EXDEV)
	if b.read("/etc/resolv.conf") != "old" || b.there("/etc/.resolv.conf.hostler-tmp") {
		t.Error("the file was touched")
	}
	f, err := b.Files.OpenFile("/etc/resolv.conf", syscall.O_WRONLY|syscall.O_TRUNC, 0)
	b.ok(err)
	_, err = f.WriteString("in place")
	b.ok(errors.Join(err, f.Sync(), f.Close()))
	b.PowerLoss(nil)
	if got := b.read("/etc/resolv.conf"); got != "in place" {
		t.Errorf("after a power loss it holds %q", got)
	}
	b.is(b.Files.Remove("/etc/resolv.conf"), syscall.EBUSY)
}

func TestMountsAndDevices(t *testing.T) {
	b := newBox(t, memory.Options{
		Mounts: []memory.Mount{{Point: "/mnt/data", Type: "xfs", Source: "/dev/vdb", NoExec: true}, {Point: "/mnt/ram", Size: 8192}},
		Files:  map[string]memory.File{"/mnt/data/keep": {Content: "kept"}, "/mnt/ram/lost": {}},
	})
	b.is(b.Files.Rename("/mnt/data/keep", "/etc/keep"), syscall.EXDEV)
	b.is(b.Files.Link("/mnt/data/keep", "/etc/keep"), syscall.EXDEV)
	b.is(b.Files.Remove("/mnt/data"), syscall.EBUSY)
	b.is(b.Files.Rename("/mnt/data", "/mnt/other"), syscall.EBUSY)
	b.is(b.Files.Remove("/"), syscall.EBUSY)
	b.is(b.Files.RemoveAll("/"), syscall.EBUSY)
	b.is(b.Files.Rename("/", "/x"), syscall.EBUSY)
	info, err := b.Files.Stat("/mnt/data")
	b.ok(err)
	top, err := b.Files.Stat("/")
	b.ok(err)
	if host.StatOf(info).Dev == host.StatOf(top).Dev {
		t.Error("two file systems have one device number")
	}
	list, err := b.Storage.Mounts(t.Context())
	b.ok(err)
	var points []string
	for _, m := range list {
		points = append(points, fmt.Sprint(m.Point, " ", m.Type, " ", m.NoExec))
	}
	b.same(points, "/ ext4 false", "/mnt/data xfs true", "/mnt/ram tmpfs false", "/run tmpfs false")
	b.PowerLoss(nil)
	if b.read("/mnt/data/keep") != "kept" || b.there("/mnt/ram/lost") || !b.there("/mnt/ram") {
		t.Error("a power loss takes what is on a tmpfs and nothing else")
	}
}

func TestFullDisk(t *testing.T) {
	b := newBox(t, memory.Options{Mounts: []memory.Mount{{Point: "/mnt/s", Type: "ext4", Size: 64 << 10}}})
	free := func() uint64 {
		m, err := b.Storage.Mount(t.Context(), "/mnt/s")
		b.ok(err)
		return m.FreeBytes
	}
	f, err := b.Files.Create("/mnt/s/f")
	b.ok(err)
	n, err := f.Write(make([]byte, 100<<10))
	if n != 64<<10 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes: %v", n, err)
	}
	b.is(f.Truncate(1<<20), syscall.ENOSPC)
	if free() != 0 {
		t.Errorf("%d bytes are free on a full disk", free())
	}
	b.ok(b.Files.Remove("/mnt/s/f"))
	if free() != 0 {
		t.Error("an open file that was removed takes no room")
	}
	b.ok(f.Close())
	if free() != 64<<10 {
		t.Errorf("%d bytes are free once it is closed", free())
	}
	b.put("/mnt/s/g", "x")
	if got := 64<<10 - free(); got != 4096 {
		t.Errorf("one byte takes %d", got)
	}
}

func TestC20FailedWritesLeaveNoStagingFiles(t *testing.T) {
	b := newBox(t, memory.Options{
		Mounts: []memory.Mount{{Point: "/mnt/s", Size: 64 << 10}},
		Files:  map[string]memory.File{"/mnt/s/app.conf.d/10-x.conf": {Content: "old"}},
	})
	before := b.Snapshot()
	for range 5 {
		err := host.Replace(b.Files, "/mnt/s/app.conf.d/10-x.conf", host.Content{Bytes: make([]byte, 1<<20), Mode: 0o644})
		b.is(err, syscall.ENOSPC)
		b.same(memory.Difference(before, b.Snapshot()))
	}
}

func TestC78RemovalMeetsAMount(t *testing.T) {
	b := newBox(t, memory.Options{})
	b.ok(b.Mount(memory.Mount{Point: "/srv/tree/mnt"}))
	b.put("/srv/tree/mnt/marker", "x")
	f, err := b.Files.Open("/srv/tree/mnt/marker")
	b.ok(err)
	b.is(b.Kernel.Unmount(t.Context(), "/srv/tree/mnt"), syscall.EBUSY)
	b.is(b.Kernel.Unmount(t.Context(), "/srv/tree"), syscall.EINVAL)
	b.is(b.Kernel.Unmount(t.Context(), "/srv/none"), syscall.ENOENT)
	b.ok(f.Close())
	b.is(b.Files.RemoveAll("/srv/tree"), syscall.EBUSY)
	b.ok(b.Mount(memory.Mount{Point: "/srv/tree/mnt/deeper"}))
	b.is(b.Kernel.Unmount(t.Context(), "/srv/tree/mnt"), syscall.EBUSY)
	b.ok(b.Kernel.Unmount(t.Context(), "/srv/tree/mnt/deeper"))
	b.ok(b.Kernel.Unmount(t.Context(), "/srv/tree/mnt"))
	b.ok(b.Files.RemoveAll("/srv/tree"))
	b.is(b.Mount(memory.Mount{Point: "/etc/passwd/x"}), syscall.ENOTDIR)
}

func TestC52MetadataOrder(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{
		"/x": {Mode: 0o6755, Xattrs: map[string]string{"security.capability": "c", "user.u": "u"}}}})
	s := b.Files.(host.Special)
	b.ok(b.Files.Lchown("/x", -1, 5))
	info, err := host.Lstat(b.Files, "/x")
	b.ok(err)
	if host.ModeBits(info.Mode()) != 0o755 || host.StatOf(info).GID != 5 || host.StatOf(info).UID != 0 {
		t.Errorf("after chown: %v %+v", info.Mode(), host.StatOf(info))
	}
	list, err := s.Llistxattr("/x")
	b.ok(err)
	b.same(list, "user.u")
	b.ok(s.Lsetxattr("/x", "security.capability", []byte("c")))
	f, err := b.Files.OpenFile("/x", syscall.O_WRONLY, 0)
	b.ok(err)
	_, err = f.WriteString("content")
	b.ok(errors.Join(err, f.Close()))
	_, err = s.Lgetxattr("/x", "security.capability")
	b.is(err, syscall.ENODATA)
	for attr, want := range map[string]error{
		"plain": syscall.EOPNOTSUPP, "other.x": syscall.EOPNOTSUPP, "user.": syscall.EINVAL, "user." + string(make([]byte, 300)): syscall.ERANGE,
	} {
		b.is(s.Lsetxattr("/x", attr, nil), want)
	}
	b.ok(b.Files.SymlinkIfPossible("x", "/l"))
	b.is(s.Lsetxattr("/l", "user.u", nil), syscall.EPERM)
	b.ok(s.Lsetxattr("/l", "trusted.u", nil))
	b.is(s.Mknod("/n", syscall.S_IFDIR, 0), syscall.EINVAL)
}

func TestCreationInASetgidDirectory(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{"/srv/d": {Dir: true, Mode: 0o2775, GID: 9}}})
	b.ok(b.Files.Mkdir("/srv/d/sub", 0o755))
	info, err := host.Lstat(b.Files, "/srv/d/sub")
	b.ok(err)
	if host.StatOf(info).GID != 9 || host.ModeBits(info.Mode()) != 0o755 {
		t.Errorf("made with group %d, mode %v", host.StatOf(info).GID, info.Mode())
	}
}

func TestOddOpens(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{"/f": {Content: "x"}, "/l": {Link: "f"}}})
	s := b.Files.(host.Special)
	b.ok(s.Mknod("/fifo", syscall.S_IFIFO|0o600, 0))
	open := func(name string, flag int) (afero.File, error) { return b.Files.OpenFile(name, flag, 0o600) }
	_, err := open("/l", syscall.O_NOFOLLOW)
	b.is(err, syscall.ELOOP)
	_, err = open("/f", syscall.O_DIRECTORY)
	b.is(err, syscall.ENOTDIR)
	_, err = open("/a\x00b", 0)
	b.is(err, syscall.EINVAL)
	_, err = open("/"+string(bytes.Repeat([]byte("a/"), 3000)), 0)
	b.is(err, syscall.ENAMETOOLONG)
	b.is(b.Files.SymlinkIfPossible(string(make([]byte, 5000)), "/long"), syscall.ENAMETOOLONG)
	_, err = open("/fifo", syscall.O_RDWR)
	b.is(err, syscall.ENXIO)
	b.ok(s.Mknod("/null", syscall.S_IFCHR|0o600, 1<<8|3))
	f, err := open("/null", syscall.O_RDWR)
	b.ok(err)
	if n, err := f.Write([]byte("gone")); n != 4 || err != nil {
		t.Errorf("writing to a device: %d, %v", n, err)
	}
	b.is(f.Truncate(0), syscall.EINVAL)
	_, err = f.Seek(0, 9)
	b.is(err, syscall.EINVAL)
	g, err := open("/f", syscall.O_RDWR)
	b.ok(err)
	_, err = g.ReadAt(make([]byte, 1), -1)
	b.is(err, syscall.EINVAL)
	_, err = g.WriteAt([]byte("x"), -1)
	b.is(err, syscall.EINVAL)
	if n, err := g.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
	d, err := open("/", 0)
	b.ok(err)
	first, err := d.Readdirnames(-1)
	b.ok(err)
	_, err = d.Seek(0, io.SeekStart)
	b.ok(err)
	again, err := d.Readdirnames(-1)
	b.ok(err)
	b.same(again, first...)
	if b.Files.Name() == "" {
		t.Error("the file system has no name")
	}
}

// TestRandomCallsAgreeWithTheKernel makes the same random calls here and in a
// directory of the machine the test runs on.
func TestRandomCallsAgreeWithTheKernel(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("without root the kernel may refuse more; only errors that both give are compared")
	}
	for seed := range int64(60) {
		b := newBox(t, memory.Options{})
		b.ok(b.Files.Mkdir("/w", 0o755))
		real := t.TempDir()
		rnd := rand.New(rand.NewSource(seed))
		for step := range 150 {
			call, mem, os := randomCall(rnd, b.Files, real)
			if got, want := errno(mem), errno(os); got != want {
				t.Fatalf("seed %d step %d: %s gives %v here, %v in the kernel", seed, step, call, got, want)
			}
		}
		if got, want := listing(b.Files, "/w"), listing(afero.NewOsFs(), real); got != want {
			t.Fatalf("seed %d: the tree is\n%s\nin the kernel\n%s", seed, got, want)
		}
	}
}

func errno(err error) syscall.Errno {
	e, _ := errors.AsType[syscall.Errno](err)
	if err != nil && e == 0 {
		return syscall.EIO
	}
	return e
}

// randomCall makes one call in both places. Links are relative and short, so
// that neither leaves its directory.
func randomCall(rnd *rand.Rand, f host.Files, real string) (call string, mem, kernel error) {
	name := func() string {
		n := ""
		for range 1 + rnd.Intn(3) {
			n += "/" + string("abcd"[rnd.Intn(4)])
		}
		return n
	}
	a, c := name(), name()
	am, ak, cm, ck := "/w"+a, filepath.Join(real, a), "/w"+c, filepath.Join(real, c)
	switch rnd.Intn(9) {
	case 0:
		return "mkdir " + a, f.Mkdir(am, 0o755), os.Mkdir(ak, 0o755)
	case 1:
		return "write " + a, afero.WriteFile(f, am, []byte(c), 0o644), os.WriteFile(ak, []byte(c), 0o644)
	case 2:
		return "rename " + a + " " + c, f.Rename(am, cm), syscall.Rename(ak, ck)
	case 3:
		return "remove " + a, f.Remove(am), os.Remove(ak)
	case 4:
		target := string("abcd"[rnd.Intn(4)])
		return "symlink " + target + " " + a, f.SymlinkIfPossible(target, am), os.Symlink(target, ak)
	case 5:
		return "link " + a + " " + c, f.Link(am, cm), os.Link(ak, ck)
	case 6:
		return "mkdirall " + a, f.MkdirAll(am, 0o755), os.MkdirAll(ak, 0o755)
	case 7:
		return "chmod " + a, f.Chmod(am, 0o700), os.Chmod(ak, 0o700)
	}
	return "removeall " + a, f.RemoveAll(am), removeAll(ak)
}

// removeAll is os.RemoveAll, but that nothing can be below a file is no error:
// then there is nothing to remove.
func removeAll(name string) error {
	if err := os.RemoveAll(name); !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	return nil
}

// listing describes every name below root.
func listing(f afero.Fs, root string) string {
	var out bytes.Buffer
	err := afero.Walk(f, root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		nlink := uint64(0)
		if !info.IsDir() {
			nlink = host.StatOf(info).Nlink
		}
		if rel != "." {
			fmt.Fprintln(&out, rel, info.Mode(), nlink)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}
