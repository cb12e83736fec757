package hosttest

import (
	"strings"
	"syscall"
	"time"

	"hostler/interpreter/host"
)

// errorCases go through the errno of every call.
func errorCases() map[string]func(tree) {
	return map[string]func(tree){
		"a missing name":                      missingName,
		"a missing parent":                    missingParent,
		"a file as parent":                    fileAsParent,
		"a name that is taken":                takenName,
		"a link that loops":                   loopingLink,
		"names of 255 and 256 bytes":          longNames,
		"names in any bytes":                  oddNames,
		"a directory where a file is wanted":  directoryForFile,
		"links and hard links to wrong names": wrongLinks,
	}
}

// attempt is a call with one name.
type attempt struct {
	what string
	call func(f host.Files, name string) error
}

// readers need something at the name.
func readers() []attempt {
	return []attempt{
		{"Open", func(f host.Files, n string) error { _, err := f.Open(n); return err }},
		{"OpenFile", func(f host.Files, n string) error { _, err := f.OpenFile(n, syscall.O_WRONLY, 0); return err }},
		{"Stat", func(f host.Files, n string) error { _, err := f.Stat(n); return err }},
		{"Chmod", func(f host.Files, n string) error { return f.Chmod(n, 0o600) }},
		{"Chown", func(f host.Files, n string) error { return f.Chown(n, 0, 0) }},
		{"Chtimes", func(f host.Files, n string) error { return f.Chtimes(n, time.Unix(1, 0), time.Unix(1, 0)) }},
		{"SyncTree", func(f host.Files, n string) error { return f.SyncTree(n) }},
	}
}

// leafCalls need something at the name and do not follow it.
func leafCalls() []attempt {
	return []attempt{
		{"Lstat", func(f host.Files, n string) error { _, err := host.Lstat(f, n); return err }},
		{"Readlink", func(f host.Files, n string) error { _, err := f.ReadlinkIfPossible(n); return err }},
		{"Lchown", func(f host.Files, n string) error { return f.Lchown(n, 0, 0) }},
		{"Remove", func(f host.Files, n string) error { return f.Remove(n) }},
	}
}

// makers put something at the name.
func makers() []attempt {
	return []attempt{
		{"Create", func(f host.Files, n string) error { _, err := f.Create(n); return err }},
		{"OpenFile O_EXCL", func(f host.Files, n string) error {
			_, err := f.OpenFile(n, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
			return err
		}},
		{"Mkdir", func(f host.Files, n string) error { return f.Mkdir(n, 0o755) }},
		{"Symlink", func(f host.Files, n string) error { return f.SymlinkIfPossible("x", n) }},
	}
}

func (x tree) allFail(list []attempt, want syscall.Errno, name string) {
	x.Helper()
	for _, a := range list {
		err := a.call(x.fs, name)
		if err == nil {
			x.Errorf("%s of %s: no error, want %v", a.what, name, want)
			continue
		}
		x.fails(err, want, name)
	}
}

func missingName(x tree) {
	x.allFail(readers(), syscall.ENOENT, at("none"))
	x.allFail(leafCalls(), syscall.ENOENT, at("none"))
	x.failsEither(x.fs.Rename(at("none"), at("other")), syscall.ENOENT)
	x.failsEither(x.fs.Link(at("none"), at("other")), syscall.ENOENT)
	x.ok(x.fs.RemoveAll(at("none")))
}

func missingParent(x tree) {
	name := at("none/below")
	x.allFail(readers(), syscall.ENOENT, name)
	x.allFail(leafCalls(), syscall.ENOENT, name)
	x.allFail(makers(), syscall.ENOENT, name)
	x.write("file", "")
	x.failsEither(x.fs.Rename(at("file"), name), syscall.ENOENT)
	x.failsEither(x.fs.Link(at("file"), name), syscall.ENOENT)
	x.ok(x.fs.RemoveAll(name))
	x.gone("none")
}

func fileAsParent(x tree) {
	x.write("file", "")
	x.write("other", "")
	name := at("file/below")
	x.allFail(readers(), syscall.ENOTDIR, name)
	x.allFail(leafCalls(), syscall.ENOTDIR, name)
	x.allFail(makers(), syscall.ENOTDIR, name)
	x.failsEither(x.fs.MkdirAll(name, 0o755), syscall.ENOTDIR)
	x.failsEither(x.fs.MkdirAll(at("file"), 0o755), syscall.ENOTDIR)
	x.failsEither(x.fs.Rename(at("other"), name), syscall.ENOTDIR)
	x.failsEither(x.fs.Link(at("other"), name), syscall.ENOTDIR)
	// Nothing is there, so there is nothing to remove.
	x.ok(x.fs.RemoveAll(name))
	x.ok(x.fs.RemoveAll(name + "/deeper"))
	x.holds("file", "")
}

func takenName(x tree) {
	x.write("file", "kept")
	x.mkdir("dir")
	x.link("nowhere", "dangling")
	for _, name := range []string{at("file"), at("dir"), at("dangling")} {
		x.allFail(makers()[1:], syscall.EEXIST, name)
		x.failsEither(x.fs.Link(at("file"), name), syscall.EEXIST)
	}
	x.fails(x.fs.Mkdir("/", 0o755), syscall.EEXIST, "/")
	x.holds("file", "kept")
	x.linksTo("dangling", "nowhere")
	x.gone("nowhere")
}

func loopingLink(x tree) {
	x.link("b", "a")
	x.link("a", "b")
	x.allFail(readers(), syscall.ELOOP, at("a"))
	x.allFail(readers(), syscall.ELOOP, at("a/below"))
	x.allFail(leafCalls(), syscall.ELOOP, at("a/below"))
	x.allFail(makers(), syscall.ELOOP, at("a/below"))
	x.linksTo("a", "b")
	x.ok(x.fs.Remove(at("a")))
	x.linksTo("b", "a")
}

func longNames(x tree) {
	fits := strings.Repeat("n", 255)
	x.write(fits, "long")
	x.holds(fits, "long")
	x.ok(x.fs.Rename(at(fits), at(strings.Repeat("m", 255))))
	x.gone(fits)
	name := at(fits + "n")
	x.allFail(readers(), syscall.ENAMETOOLONG, name)
	x.allFail(leafCalls(), syscall.ENAMETOOLONG, name)
	x.allFail(makers(), syscall.ENAMETOOLONG, name)
	x.failsEither(x.fs.Rename(at(strings.Repeat("m", 255)), name), syscall.ENAMETOOLONG)
}

func oddNames(x tree) {
	for _, name := range []string{"sp ace", "new\nline", "\xff\xfe", `back\slash`, "a:b", "e\u0301", "\u00e9", "*", "..."} {
		x.write(name, name)
	}
	for _, name := range x.entries("") {
		x.holds(name, name)
		x.ok(x.fs.Remove(at(name)))
	}
	if left := x.entries(""); len(left) != 0 {
		x.Errorf("left: %q", left)
	}
}

func directoryForFile(x tree) {
	x.mkdir("dir")
	_, err := x.fs.OpenFile(at("dir"), syscall.O_WRONLY, 0)
	x.fails(err, syscall.EISDIR, at("dir"))
	_, err = x.fs.OpenFile(at("dir"), syscall.O_RDWR|syscall.O_CREAT, 0o644)
	x.fails(err, syscall.EISDIR, at("dir"))
	_, err = x.fs.OpenFile(at("dir"), syscall.O_RDONLY|syscall.O_CREAT, 0o644)
	x.fails(err, syscall.EISDIR, at("dir"))
	_, err = x.fs.Create(at("dir"))
	x.fails(err, syscall.EISDIR, at("dir"))
}

func wrongLinks(x tree) {
	x.write("file", "")
	x.mkdir("dir")
	_, err := x.fs.ReadlinkIfPossible(at("file"))
	x.fails(err, syscall.EINVAL, at("file"))
	_, err = x.fs.ReadlinkIfPossible(at("dir"))
	x.fails(err, syscall.EINVAL, at("dir"))
	x.failsEither(x.fs.Link(at("dir"), at("dir2")), syscall.EPERM)
	x.fails(x.fs.SymlinkIfPossible("", at("empty")), syscall.ENOENT, at("empty"))
	x.gone("empty")
}
