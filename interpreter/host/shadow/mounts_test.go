package shadow_test

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
)

func readOnlyUsr(t *testing.T) (host.Host, *counting) {
	t.Helper()
	s := &still{mounts: []host.MountState{{Point: "/usr", ReadOnly: true}}}
	dir := t.TempDir()
	plant(t, dir, map[string]string{"usr/lib/file": "x", "usr/lib/dir/": "", "usr/link": "-> lib", "bin": "-> usr/lib", "etc/file": "y"})
	s.files = open(t, dir)
	v := s.view()
	c := &counting{StorageView: v.Storage, asked: map[string]int{}}
	v.Storage = c
	return shadow.Over(v).Host(), c
}

// counting counts how often a mount was asked for.
type counting struct {
	host.StorageView
	asked map[string]int
}

func (c *counting) Mount(ctx context.Context, name string) (host.MountState, error) {
	c.asked[name]++
	return c.StorageView.Mount(ctx, name)
}

func TestReadOnlyMountRefusesChanges(t *testing.T) {
	h, c := readOnlyUsr(t)
	f := h.Files
	open := func(name string, flag int) error { _, err := f.OpenFile(name, flag, 0o644); return err }
	for what, err := range map[string]error{
		"create":     open("/usr/lib/new", os.O_WRONLY|os.O_CREATE),
		"exclusive":  open("/usr/lib/new", os.O_WRONLY|os.O_CREATE|os.O_EXCL),
		"write":      open("/usr/lib/file", os.O_WRONLY),
		"truncate":   open("/usr/lib/file", os.O_TRUNC),
		"by link":    open("/bin/file", os.O_RDWR),
		"mkdir":      f.Mkdir("/usr/lib/new", 0o755),
		"mkdirall":   f.MkdirAll("/usr/a/b/c", 0o755),
		"symlink":    f.SymlinkIfPossible("x", "/usr/new"),
		"link":       f.Link("/usr/lib/file", "/usr/lib/new"),
		"mknod":      f.(host.Special).Mknod("/usr/fifo", syscall.S_IFIFO|0o600, 0),
		"remove":     f.Remove("/usr/lib/file"),
		"absent":     f.Remove("/usr/lib/none"),
		"removeall":  f.RemoveAll("/usr/lib/dir"),
		"rename":     f.Rename("/usr/lib/file", "/usr/lib/new"),
		"rename in":  f.Rename("/etc/file", "/usr/lib/new"),
		"rename out": f.Rename("/usr/lib/file", "/etc/new"),
		"chmod":      f.Chmod("/usr/lib/file", 0o600),
		"chown":      f.Lchown("/usr/lib/file", 0, 0),
		"chtimes":    f.Chtimes("/usr/lib", time.Unix(1, 0), time.Unix(1, 0)),
		"setxattr":   f.(host.Special).Lsetxattr("/usr/lib/file", "user.x", nil),
		"replace":    host.Replace(f, "/usr/lib/file", host.Content{Mode: 0o644}),
	} {
		if !strings.Contains(errText(err), "read-only file system") {
			t.Errorf("%s: %v, want EROFS", what, err)
		}
	}
	is(t, f.Mkdir("/usr/lib/dir", 0o755), syscall.EEXIST)
	must(t, f.MkdirAll("/usr/lib/dir", 0o755))
	must(t, f.RemoveAll("/usr/lib/none"))
	must(t, host.Remove(f, "/usr/lib/none"))
	if got := read(t, f, "/bin/file"); got != "x" {
		t.Errorf("read %q", got)
	}
	write(t, f, "/etc/new", "fine")
	for name, n := range c.asked {
		if n > 1 {
			t.Errorf("the mount of %s was asked for %d times", name, n)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMountPointsStay(t *testing.T) {
	h, _ := over(t, &still{mounts: []host.MountState{{Point: "/run/bpffs/kube1"}, {Point: "/etc/resolv.conf"}}}, map[string]string{
		"run/bpffs/kube1/prog": "x", "etc/resolv.conf": "y", "etc/hosts": "z",
	})
	f, ctx := h.Files, t.Context()
	is(t, f.Remove("/run/bpffs/kube1"), syscall.EBUSY)
	is(t, f.RemoveAll("/run/bpffs"), syscall.EBUSY)
	is(t, f.RemoveAll("/run/bpffs/kube1"), syscall.EBUSY)
	is(t, f.Rename("/run/bpffs/kube1", "/run/x"), syscall.EBUSY)
	is(t, host.Replace(f, "/etc/resolv.conf", host.Content{Mode: 0o644}), syscall.EBUSY)
	is(t, host.Rename(f, "/etc/hosts", "/etc/resolv.conf"), syscall.EBUSY)
	must(t, f.Rename("/run", "/moved"))
	is(t, f.RemoveAll("/moved/bpffs"), syscall.EBUSY)
	must(t, f.Rename("/moved", "/run"))

	is(t, h.Kernel.Unmount(ctx, "/run/bpffs"), syscall.EINVAL)
	must(t, h.Kernel.Unmount(ctx, "/run/bpffs/kube1"))
	is(t, h.Kernel.Unmount(ctx, "/run/bpffs/kube1"), syscall.EINVAL)
	if names, err := afero.ReadDir(f, "/run/bpffs/kube1"); err != nil || len(names) != 0 {
		t.Errorf("below the mount are %v, %v", names, err)
	}
	must(t, f.RemoveAll("/run/bpffs"))
	before, err := f.Open("/etc/resolv.conf")
	must(t, err)
	must(t, h.Kernel.Unmount(ctx, "/etc/resolv.conf"))
	if b, err := afero.ReadAll(before); err != nil || string(b) != "y" {
		t.Errorf("the open file reads %q, %v", b, err)
	}
	_, err = f.Open("/etc/resolv.conf")
	unknown(t, err, "what lies under the mount at /etc/resolv.conf is not known")
	mounts, err := h.Storage.Mounts(ctx)
	must(t, err)
	if len(mounts) != 1 || mounts[0].Point != "/" {
		t.Errorf("mounted is still %v", mounts)
	}
}

func TestStorageFollowsTheShadow(t *testing.T) {
	h, _ := over(t, &still{mounts: []host.MountState{{Point: "/data", Type: "xfs"}}}, map[string]string{
		"data/dir/": "", "opt/": "", "var/lib/machines/kube1/": "",
	})
	must(t, h.Files.SymlinkIfPossible("/data/dir", "/opt/link"))
	must(t, h.Files.MkdirAll("/data/new/deep", 0o755))
	for name, want := range map[string]string{
		"/opt/link/none/x": "/data", "/data/new/deep/file": "/data", "/opt/none": "/", "/": "/",
	} {
		if m, err := h.Storage.Mount(t.Context(), name); err != nil || m.Point != want {
			t.Errorf("%s is on %s, %v; want %s", name, m.Point, err, want)
		}
	}
	must(t, h.Files.SymlinkIfPossible("loop", "/loop"))
	_, err := h.Storage.Mount(t.Context(), "/loop/x")
	is(t, err, syscall.ELOOP)
}

func TestRenameAcrossFileSystems(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a/file": "x", "b/": ""})
	h := shadow.Over((&still{files: split{open(t, dir)}}).view()).Host()
	is(t, h.Files.Rename("/a/file", "/b/file"), syscall.EXDEV)
	is(t, h.Files.Link("/a/file", "/b/file"), syscall.EXDEV)
	must(t, h.Files.Rename("/a/file", "/a/moved"))
}

// split is a base in which /b is another file system.
type split struct{ host.FileView }

func (s split) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	i, ok, err := s.FileView.LstatIfPossible(name)
	if err == nil && path.Base(name) == "b" {
		i = foreign{i, i.Sys().(*syscall.Stat_t)}
	}
	return i, ok, err
}

type foreign struct {
	fs.FileInfo
	stat *syscall.Stat_t
}

func (f foreign) Sys() any {
	st := *f.stat
	st.Dev += 1000
	return &st
}
