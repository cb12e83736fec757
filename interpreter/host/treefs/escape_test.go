package treefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// TestNoEscape tries every call through links that would lead out.
func TestNoEscape(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/root/dir", 0o755))
	must(t, os.MkdirAll(dir+"/root-evil", 0o755))
	must(t, os.WriteFile(dir+"/root-evil/secret", []byte("secret"), 0o644))
	before := stamp(t, dir+"/root-evil")
	f := open(t, dir+"/root", caller())
	for i, target := range []string{"../root-evil", "../../../../../.." + dir + "/root-evil", dir + "/root-evil", "dir/../../root-evil"} {
		link := fmt.Sprintf("/link%d", i)
		must(t, f.SymlinkIfPossible(target, link))
		secret := link + "/secret"
		_, open := f.Open(secret)
		_, create := f.OpenFile(link+"/new", os.O_CREATE|os.O_WRONLY, 0o644)
		_, stat := f.Stat(secret)
		_, list := f.Open(link)
		_, get := f.Lgetxattr(secret, "user.x")
		_, mount := f.Mount(t.Context(), secret)
		_, real := f.RealDir(link)
		_, sub := f.Sub(link)
		for what, err := range map[string]error{
			"Open": open, "OpenFile": create, "Stat": stat, "Open of a directory": list, "Lgetxattr": get, "Mount": mount,
			"RealDir": real, "Sub": sub,
			"Chmod": f.Chmod(secret, 0o600), "Chown": f.Chown(secret, 0, 0), "Lchown": f.Lchown(secret, 0, 0),
			"Chtimes": f.Chtimes(secret, time.Unix(1, 0), time.Unix(1, 0)), "Lchtimes": f.Lchtimes(secret, 1),
			"Mkdir": f.Mkdir(link+"/new", 0o755), "MkdirAll": f.MkdirAll(link+"/new/er", 0o755),
			"Remove": f.Remove(secret), "Rename": f.Rename(secret, "/mine"), "Link": f.Link(secret, "/mine"),
			"Symlink": f.SymlinkIfPossible("x", link+"/new"), "Mknod": f.Mknod(link+"/new", unix.S_IFIFO|0o600, 0),
			"Lsetxattr": f.Lsetxattr(secret, "user.x", nil), "SyncTree": f.SyncTree(secret),
		} {
			if !host.Absent(err) && !errors.Is(err, fs.ErrExist) { // MkdirAll finds the dangling link
				t.Errorf("%s through %s: %v, want that nothing is there", what, target, err)
			}
		}
		must(t, f.RemoveAll(secret))
		must(t, f.RemoveAll(link))
	}
	if after := stamp(t, dir+"/root-evil"); after != before {
		t.Errorf("outside was changed: %s, before %s", after, before)
	}
	if b, err := os.ReadFile(dir + "/root-evil/secret"); err != nil || string(b) != "secret" {
		t.Errorf("outside holds %q (%v)", b, err)
	}
}

func stamp(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	s := ""
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		s += fmt.Sprintln(e.Name(), info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	return s
}

// TestSwappedDirectory exchanges a directory for a link that leads out while
// files are made below it.
func TestSwappedDirectory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/root/dir", 0o755))
	must(t, os.Mkdir(dir+"/outside", 0o755))
	must(t, os.Symlink(dir+"/outside", dir+"/root/evil"))
	f := open(t, dir+"/root", caller())
	var done sync.WaitGroup
	done.Go(func() {
		for range 300 {
			_ = unix.Renameat2(unix.AT_FDCWD, dir+"/root/dir", unix.AT_FDCWD, dir+"/root/evil", unix.RENAME_EXCHANGE)
		}
	})
	for i := range 300 {
		_ = host.Replace(f, fmt.Sprintf("/dir/file%d", i), host.Content{Bytes: []byte("x"), Mode: 0o600})
	}
	done.Wait()
	if left, err := os.ReadDir(dir + "/outside"); err != nil || len(left) != 0 {
		t.Errorf("outside holds %v (%v)", left, err)
	}
}

// TestC15ReaderSeesWholeFiles: whoever looks meanwhile sees complete content
// with its final mode.
func TestC15ReaderSeesWholeFiles(t *testing.T) {
	f := open(t, t.TempDir(), caller())
	content := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 256<<10) }
	put := func(i int) {
		must(t, host.Replace(f, "/file", host.Content{Bytes: []byte(content(i)), Mode: 0o640}))
	}
	put(0)
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				lookWhole(t, f)
			}
		}
	})
	for i := range 40 {
		put(i)
	}
	close(stop)
	reader.Wait()
}

func lookWhole(t *testing.T, f *treefs.FS) {
	file, err := f.Open("/file")
	if err != nil {
		t.Errorf("the reader finds no file: %v", err)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Mode() != 0o640 || info.Size() != 256<<10 {
		t.Errorf("the reader sees %v %d (%v)", info.Mode(), info.Size(), err)
	}
	b := make([]byte, 256<<10)
	n, err := file.ReadAt(b, 0)
	if err != nil || strings.Trim(string(b[:n]), string(b[:1])) != "" {
		t.Errorf("the reader sees %d mixed bytes (%v)", n, err)
	}
}
