package hosttest

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"hostler/interpreter/host"
)

// specialCases are about host.Special, where it is offered. A door that does
// not offer it has to say so by its type, which needs no case.
func specialCases() map[string]func(tree) {
	return map[string]func(tree){
		"device nodes and FIFOs": func(x tree) { x.special(nodes) },
		"extended attributes":    func(x tree) { x.special(attributes) },
		"the time of a link":     func(x tree) { x.special(linkTime) },
		"special calls fail":     func(x tree) { x.special(specialErrors) },
	}
}

func (x tree) special(run func(tree, host.Special)) {
	if s, ok := x.fs.(host.Special); ok {
		run(x, s)
	}
}

func nodes(x tree, s host.Special) {
	x.ok(s.Mknod(at("fifo"), syscall.S_IFIFO|0o622, 0))
	if got := x.lstat("fifo").Mode().Type(); got != fs.ModeNamedPipe {
		x.Errorf("made a %v", got)
	}
	x.hasMode("fifo", 0o622)
	for _, flag := range []int{syscall.O_RDONLY, syscall.O_WRONLY, syscall.O_RDWR | syscall.O_CREAT} { // nobody is waited for
		_, err := x.fs.OpenFile(at("fifo"), flag, 0o600)
		x.fails(err, syscall.ENXIO, at("fifo"))
		if !errors.Is(err, host.ErrFIFO) {
			x.Errorf("%v does not say what is there", err)
		}
	}
	err := s.Mknod(at("null"), syscall.S_IFCHR|0o666, 1<<8|3)
	if !x.ownersChange() {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "root") {
			x.Errorf("a device without privilege: %v, want a permission error that says root is needed", err)
		}
		x.gone("null")
		return
	}
	x.ok(err)
	info := x.lstat("null")
	if got := info.Mode().Type(); got != fs.ModeDevice|fs.ModeCharDevice {
		x.Errorf("made a %v", got)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Rdev != 1<<8|3 {
		x.Errorf("device number of %v", info.Sys())
	}
	x.hasMode("null", 0o666)
}

func attributes(x tree, s host.Special) {
	x.write("file", "")
	x.mkdir("dir")
	for _, name := range []string{"file", "dir"} {
		for _, value := range []string{"one", "", "\x00\xff binary", strings.Repeat("v", 900)} {
			x.ok(s.Lsetxattr(at(name), "user.hosttest", []byte(value)))
			got, err := s.Lgetxattr(at(name), "user.hosttest")
			x.ok(err)
			if string(got) != value {
				x.Errorf("%s: attribute holds %q, want %q", name, got, value)
			}
		}
		x.ok(s.Lsetxattr(at(name), "user.second", []byte("2")))
		list, err := s.Llistxattr(at(name))
		x.ok(err)
		for _, want := range []string{"user.hosttest", "user.second"} {
			if !slices.Contains(list, want) {
				x.Errorf("%s: %s is not among %q", name, want, list)
			}
		}
	}
	x.link("file", "link")
	list, err := s.Llistxattr(at("link"))
	x.ok(err)
	if slices.Contains(list, "user.hosttest") {
		x.Error("Llistxattr follows the link")
	}
	_, err = s.Lgetxattr(at("link"), "user.hosttest")
	x.fails(err, syscall.ENODATA, at("link"))
}

func linkTime(x tree, s host.Special) {
	x.write("file", "")
	before := x.lstat("file").ModTime()
	x.link("file", "link")
	x.ok(s.Lchtimes(at("link"), 1_000_000_000_000_000_007))
	if got := x.lstat("link").ModTime().UnixNano(); got != 1_000_000_000_000_000_007 {
		x.Errorf("the link's time is %d", got)
	}
	if got := x.lstat("file").ModTime(); !got.Equal(before) {
		x.Error("Lchtimes follows the link")
	}
}

func specialErrors(x tree, s host.Special) {
	x.write("file", "")
	x.fails(s.Mknod(at("file"), syscall.S_IFIFO|0o600, 0), syscall.EEXIST, at("file"))
	x.fails(s.Mknod(at("none/fifo"), syscall.S_IFIFO|0o600, 0), syscall.ENOENT, at("none/fifo"))
	x.fails(s.Lchtimes(at("none"), 0), syscall.ENOENT, at("none"))
	x.fails(s.Lsetxattr(at("none"), "user.x", nil), syscall.ENOENT, at("none"))
	_, err := s.Lgetxattr(at("none"), "user.x")
	x.fails(err, syscall.ENOENT, at("none"))
	_, err = s.Llistxattr(at("none"))
	x.fails(err, syscall.ENOENT, at("none"))
	_, err = s.Lgetxattr(at("file"), "user.absent")
	x.fails(err, syscall.ENODATA, at("file"))
}
