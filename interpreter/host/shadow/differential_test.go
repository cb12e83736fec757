package shadow_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostler/interpreter/host"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/host/treefs"
)

// begin is the tree that both sides start from.
func begin() map[string]string {
	return map[string]string{
		"a": "alpha", "b/c": "beta", "b/d/a": "= a", "c": "-> b", "d/": "", "b/b": "-> /d/../b/d",
		"e/a": strings.Repeat("0123456789", 1500), "e/b/c/d/a": "deep", "f": "-> f", "e/c": "-> ../nowhere",
	}
}

// pair is a shadow over one directory and another directory like it.
type pair struct {
	shadow, real host.Files
	base         *treefs.FS
	before       map[string]string
}

func newPair(t *rapid.T, dir string) *pair {
	for _, side := range []string{"base", "real"} {
		plant(t, filepath.Join(dir, side), begin())
	}
	base, err := treefs.Open(filepath.Join(dir, "base"), caller())
	must(t, err)
	real, err := treefs.Open(filepath.Join(dir, "real"), caller())
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(base.Close(), real.Close(), os.RemoveAll(dir))) })
	return &pair{
		shadow: shadow.Over((&still{files: base}).view()).Host().Files, real: real,
		base: base, before: look(t, base),
	}
}

// both runs an operation on both sides and compares what they answer.
func (p *pair) both(t *rapid.T, what string, op func(host.Files) (string, error)) {
	got, gotErr := op(p.shadow)
	want, wantErr := op(p.real)
	if cause(gotErr) != cause(wantErr) || got != want {
		t.Fatalf("%s:\n shadow %q, %v\n   real %q, %v", what, got, gotErr, want, wantErr)
	}
}

// cause is the errno behind an error.
func cause(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return fmt.Sprint(err)
}

func (p *pair) do(t *rapid.T, what string, op func(host.Files) error) {
	p.both(t, what, func(f host.Files) (string, error) { return "", op(f) })
}

func (p *pair) check(t *rapid.T) {
	if got, want := look(t, p.shadow), look(t, p.real); !maps.Equal(got, want) {
		t.Fatalf("trees differ:\n%s", difference(got, want))
	}
}

func difference(got, want map[string]string) string {
	var b strings.Builder
	names := slices.Sorted(maps.Keys(got))
	for _, name := range append(names, slices.Sorted(maps.Keys(want))...) {
		if got[name] != want[name] {
			fmt.Fprintf(&b, "%s:\n shadow %s\n   real %s\n", name, got[name], want[name])
		}
	}
	return b.String()
}

func drawName(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), 1, 4).Draw(t, "name")
	return "/" + strings.Join(parts, "/")
}

// drawMode leaves out directories that are sticky and writable for everybody:
// in those the kernel may refuse to follow links that belong to others, even to
// root, which is a setting of the machine (fs.protected_symlinks).
func drawMode(t *rapid.T) uint32 {
	return rapid.SampledFrom([]uint32{0o644, 0o600, 0o755, 0o4755, 0o2775, 0o1755, 0o6710}).Draw(t, "mode")
}

func TestDifferential(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not root: owners are left out")
	}
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		p := newPair(t, filepath.Join(dir, fmt.Sprint(n)))
		actions := p.actions()
		actions[""] = func(*rapid.T) {}
		t.Repeat(actions)
		p.check(t)
		if after := look(t, p.base); !maps.Equal(after, p.before) {
			t.Fatal("the base was changed")
		}
	})
}

func (p *pair) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){
		"open": p.open, "attributes": p.attributes, "ask": p.ask,
		"move": p.move, "make": p.make, "remove": p.remove,
		"look": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "look") == 0 {
				p.check(t)
			}
		},
	}
	if os.Geteuid() == 0 {
		actions["own"] = p.own
	}
	return actions
}

func (p *pair) make(t *rapid.T) {
	name, mode := drawName(t), drawMode(t)
	switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); kind {
	case 0:
		p.do(t, "mkdir "+name, func(f host.Files) error { return f.Mkdir(name, host.FileMode(mode)) })
	case 1:
		p.do(t, "mkdirall "+name, func(f host.Files) error { return f.MkdirAll(name, host.FileMode(mode)) })
	case 2:
		target := rapid.SampledFrom([]string{"a", "../b", "/e/b", "..", "/", "b/c/", "./d/../a", "/f"}).Draw(t, "target")
		p.do(t, "symlink "+name, func(f host.Files) error { return f.SymlinkIfPossible(target, name) })
	case 3:
		p.do(t, "mknod "+name, func(f host.Files) error {
			return f.(host.Special).Mknod(name, syscall.S_IFIFO|mode, 0)
		})
	case 4:
		p.do(t, "replace "+name, func(f host.Files) error {
			return host.Replace(f, name, host.Content{Bytes: []byte(name), Mode: mode})
		})
	}
}

func (p *pair) remove(t *rapid.T) {
	name := drawName(t)
	if rapid.IntRange(0, 3).Draw(t, "all") == 0 {
		p.do(t, "removeall "+name, func(f host.Files) error { return f.RemoveAll(name) })
		return
	}
	p.do(t, "remove "+name, func(f host.Files) error { return f.Remove(name) })
}

func (p *pair) move(t *rapid.T) {
	from, to := drawName(t), drawName(t)
	if rapid.Bool().Draw(t, "link") {
		p.do(t, "link "+from+" "+to, func(f host.Files) error { return f.Link(from, to) })
		return
	}
	p.do(t, "rename "+from+" "+to, func(f host.Files) error { return f.Rename(from, to) })
}

func (p *pair) attributes(t *rapid.T) {
	name, mode := drawName(t), drawMode(t)
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		p.do(t, "chmod "+name, func(f host.Files) error { return f.Chmod(name, host.FileMode(mode)) })
	case 1:
		p.do(t, "setxattr "+name, func(f host.Files) error {
			return f.(host.Special).Lsetxattr(name, "user.test", []byte(fmt.Sprint(mode)))
		})
	case 2:
		at := time.Unix(int64(mode), 42)
		p.both(t, "chtimes "+name, func(f host.Files) (string, error) {
			if err := f.Chtimes(name, at, at); err != nil {
				return "", err
			}
			info, err := f.Stat(name)
			return fmt.Sprint(info.ModTime().UnixNano()), err
		})
	}
}

func (p *pair) own(t *rapid.T) {
	name := drawName(t)
	id := rapid.IntRange(-1, 3).Draw(t, "id")
	p.do(t, "lchown "+name, func(f host.Files) error { return f.Lchown(name, id, id) })
	p.do(t, "chown "+name, func(f host.Files) error { return f.Chown(name, -1, id) })
}

func (p *pair) ask(t *rapid.T) {
	name := drawName(t)
	p.both(t, "stat "+name, func(f host.Files) (string, error) {
		info, err := f.Stat(name)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(info.Name(), info.Mode()), nil
	})
	p.both(t, "lstat "+name, func(f host.Files) (string, error) {
		info, err := host.Lstat(f, name)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(info.Name(), info.Mode(), host.StatOf(info).UID), nil
	})
	p.both(t, "readlink "+name, func(f host.Files) (string, error) { return f.ReadlinkIfPossible(name) })
}

// open opens a file, does a few things to it and looks at it. Pipes would
// block and are left out.
func (p *pair) open(t *rapid.T) {
	name, mode := drawName(t), drawMode(t)
	if info, err := p.real.Stat(name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	flag := rapid.SampledFrom([]int{
		os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_EXCL,
		os.O_RDWR | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_APPEND,
		os.O_RDONLY | syscall.O_NOFOLLOW, os.O_RDONLY | syscall.O_DIRECTORY, os.O_RDWR | os.O_TRUNC,
	}).Draw(t, "flag")
	steps := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 5).Draw(t, "steps")
	off := rapid.SampledFrom([]int64{0, 1, 100, 4095, 4096, 8191, 14000, 20000}).Draw(t, "offset")
	p.both(t, fmt.Sprintf("open %s %#x", name, flag), func(f host.Files) (string, error) {
		file, err := f.OpenFile(name, flag, host.FileMode(mode))
		if err != nil {
			return "", err
		}
		var b strings.Builder
		buf := make([]byte, 5000)
		for _, step := range steps {
			var n int64
			var err error
			switch step {
			case 0:
				n, err = int64From(file.Write([]byte("written")))
			case 1:
				n, err = int64From(file.WriteAt([]byte(strings.Repeat("at", 600)), off))
				if flag&os.O_APPEND != 0 {
					err = nil
				}
			case 2:
				n, err = int64From(file.Read(buf))
			case 3:
				n, err = int64From(file.ReadAt(buf, off))
			case 4:
				err = file.Truncate(off)
			case 5:
				if info, statErr := file.Stat(); statErr == nil && !info.IsDir() {
					n, err = file.Seek(-1, io.SeekEnd)
				}
			case 6:
				n, err = int64From(file.WriteString("string"))
			}
			fmt.Fprintf(&b, "%d: %d %s %q\n", step, n, cause(err), buf[:16])
		}
		return b.String(), file.Close()
	})
}

func int64From(n int, err error) (int64, error) { return int64(n), err }
