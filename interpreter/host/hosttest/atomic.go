package hosttest

import (
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"hostler/interpreter/host"
)

// atomicCases hold host.Replace, Symlink, Rename and Remove to their promises
// on this file door. The numbers are those of the field cases they stand for.
func atomicCases() map[string]func(tree) {
	return map[string]func(tree){
		"replace writes":                             replaceWrites,
		"replace and a link (C13, H46)":              replaceLink,
		"replace and a hard link (C13)":              replaceHardLink,
		"mode and owner precede the rename (C15)":    replaceOrder,
		"empty content is content (C19)":             replaceEmpty,
		"no temporary file is left (C20)":            replaceLitter,
		"a stale temporary file goes (C20)":          replaceStale,
		"a planted temporary link goes (H46)":        replacePlanted,
		"a check decides":                            replaceCheck,
		"replace keeps long and odd names":           replaceNames,
		"replace refuses a directory":                replaceDirectory,
		"symlink replaces":                           symlinkReplaces,
		"rename makes both directories durable":      renameDurable,
		"remove is done when nothing is there (C80)": removeAbsent,
	}
}

func (x tree) replace(name, content string, mode uint32) {
	x.Helper()
	x.ok(host.Replace(x.fs, at(name), host.Content{Bytes: []byte(content), Mode: mode}))
}

func replaceWrites(x tree) {
	withUmask(x.T, 0o077)
	x.replace("file", "one", 0o644)
	x.holds("file", "one")
	x.hasMode("file", 0o644)
	x.replace("file", "two", 0o4755)
	x.holds("file", "two")
	x.hasMode("file", 0o4755)
	x.ownedBy("file", 0, 0)
	x.same(x.entries(""), "file")
	err := host.Replace(x.fs, at("none/file"), host.Content{Mode: 0o644})
	x.failsEither(err, syscall.ENOENT)
}

func replaceLink(x tree) {
	x.write("real", "real")
	x.link("real", "link")
	for range 2 {
		x.replace("link", "real", 0o644) // the same bytes as behind the link
		x.replace("link", "new", 0o644)
	}
	if !x.lstat("link").Mode().IsRegular() {
		x.Error("the link was written through")
	}
	x.holds("link", "new")
	x.holds("real", "real")
}

func replaceHardLink(x tree) {
	x.write("a", "old")
	x.ok(x.fs.Link(at("a"), at("b")))
	for range 2 {
		x.replace("a", "new", 0o644)
	}
	x.holds("a", "new")
	x.holds("b", "old")
}

func replaceOrder(x tree) {
	w := &witness{Files: x.fs}
	x.ok(host.Replace(w, at("secret"), host.Content{Bytes: []byte("secret"), Mode: 0o640}))
	x.same(w.seen, "opened 0600", "renamed 0640 6 synced=true", "opened "+Dir)
}

func replaceEmpty(x tree) {
	x.replace("file", "A\n", 0o644)
	x.replace("file", "", 0o640)
	x.holds("file", "")
	x.hasMode("file", 0o640)
	x.ok(host.Replace(x.fs, at("nil"), host.Content{Bytes: nil, Mode: 0o600}))
	x.holds("nil", "")
}

func replaceLitter(x tree) {
	x.write("10-x.conf", "old")
	for _, tt := range []struct {
		door full
		want syscall.Errno
		text string
	}{
		{full{Files: x.fs}, syscall.ENOSPC, "no space"},
		{full{x.fs, syscall.EBUSY}, syscall.EBUSY, "mount point"},
		{full{x.fs, syscall.EROFS}, syscall.EROFS, "read-only"},
		{full{x.fs, syscall.EPERM}, syscall.EPERM, "immutable"},
	} {
		for range 5 {
			err := host.Replace(tt.door, at("10-x.conf"), host.Content{Bytes: []byte("new content"), Mode: 0o644})
			x.failsEither(err, tt.want)
			if !strings.Contains(err.Error(), tt.text) {
				x.Errorf("error %q does not say %q", err, tt.text)
			}
			x.same(x.entries(""), "10-x.conf")
			x.holds("10-x.conf", "old")
		}
	}
}

// temporaryOf finds out what Replace calls its temporary file for name.
func (x tree) temporaryOf(name string) string {
	x.Helper()
	var tmp string
	err := host.Replace(x.fs, at(name), host.Content{Check: func(t string) error { tmp = t; return errors.New("stop") }})
	if err == nil || tmp == "" {
		x.Fatalf("the check was not asked: %v", err)
	}
	return tmp
}

func replaceStale(x tree) {
	tmp := x.temporaryOf("10-x.conf")
	base := tmp[len(Dir)+1:]
	if !host.IsTemporary(tmp) || base[0] != '.' || strings.HasSuffix(base, ".conf") {
		x.Errorf("a reader of drop-ins would load %q", base)
	}
	x.write(base, "left by a killed run")
	x.replace("10-x.conf", "new", 0o644)
	x.same(x.entries(""), "10-x.conf")
	x.holds("10-x.conf", "new")
}

func replacePlanted(x tree) {
	tmp := x.temporaryOf("file")
	x.write("victim", "victim")
	x.ok(x.fs.SymlinkIfPossible(at("victim"), tmp))
	x.replace("file", "new", 0o600)
	x.holds("victim", "victim")
	x.hasMode("victim", 0o644)
	x.same(x.entries(""), "file", "victim")
}

func replaceCheck(x tree) {
	x.write("file", "old")
	refuse := errors.New("line 1 is wrong")
	var saw string
	content := host.Content{Bytes: []byte("new"), Mode: 0o640, Check: func(tmp string) error {
		b, err := afero.ReadFile(x.fs, tmp)
		saw = string(b)
		return errors.Join(err, refuse)
	}}
	if err := host.Replace(x.fs, at("file"), content); !errors.Is(err, refuse) {
		x.Errorf("error %v, want the check's", err)
	}
	if saw != "new" {
		x.Errorf("the check saw %q", saw)
	}
	x.holds("file", "old")
	x.same(x.entries(""), "file")
}

func replaceNames(x tree) {
	for _, name := range []string{strings.Repeat("l", 255), strings.Repeat("l", 243), "with space", "\xff", ".hidden"} {
		x.replace(name, "content", 0o644)
		x.holds(name, "content")
		x.ok(host.Symlink(x.fs, "target", at(name)))
		x.linksTo(name, "target")
		x.ok(host.Remove(x.fs, at(name)))
	}
	x.same(x.entries(""))
}

func replaceDirectory(x tree) {
	x.mkdir("dir")
	err := host.Replace(x.fs, at("dir"), host.Content{Bytes: []byte("x"), Mode: 0o644})
	x.failsEither(err, syscall.EISDIR)
	x.failsEither(host.Symlink(x.fs, "target", at("dir")), syscall.EISDIR)
	x.same(x.entries(""), "dir")
}

func symlinkReplaces(x tree) {
	x.write("real", "real")
	for _, target := range []string{"real", "link", "../climbing", "/absolute"} {
		x.ok(host.Symlink(x.fs, target, at("link")))
		x.linksTo("link", target)
	}
	x.ok(host.Symlink(x.fs, "elsewhere", at("real")))
	x.linksTo("real", "elsewhere")
	x.same(x.entries(""), "link", "real")
	x.failsEither(host.Symlink(x.fs, "target", at("none/link")), syscall.ENOENT)
}

func renameDurable(x tree) {
	x.mkdir("from")
	x.mkdir("to")
	x.write("from/file", "content")
	w := &witness{Files: x.fs}
	x.ok(host.Rename(w, at("from/file"), at("to/file")))
	x.holds("to/file", "content")
	x.same(w.seen[1:], "opened "+at("to"), "opened "+at("from"))
	x.failsEither(host.Rename(x.fs, at("from/file"), at("to/file")), syscall.ENOENT)
}

func removeAbsent(x tree) {
	x.write("file", "")
	x.link("file", "link")
	x.mkdir("full")
	x.write("full/file", "")
	x.ok(host.Remove(x.fs, at("link")))
	x.ok(host.Remove(x.fs, at("link")))
	x.ok(host.Remove(x.fs, at("none/below")))
	x.ok(host.Remove(x.fs, at("file/below")))
	x.failsEither(host.Remove(x.fs, at("full")), syscall.ENOTEMPTY)
	x.same(x.entries(""), "file", "full")
}
