package hosttest

import (
	"syscall"

	"hostler/interpreter/host"
)

// renameCases are about Rename.
func renameCases() map[string]func(tree) {
	return map[string]func(tree){
		"a file over a file":         renameFileOverFile,
		"over a link":                renameOverLink,
		"a link":                     renameLink,
		"directories":                renameDirectories,
		"a directory into itself":    renameIntoItself,
		"onto the same file":         renameSame,
		"what is open stays":         renameOverOpen,
		"the tree below moves along": renameTree,
	}
}

func renameFileOverFile(x tree) {
	x.write("new", "new")
	x.write("old", "old")
	x.ok(x.fs.Link(at("old"), at("other")))
	x.ok(x.fs.Chmod(at("new"), 0o640))
	ino := host.StatOf(x.lstat("new")).Ino
	x.ok(x.fs.Rename(at("new"), at("old")))
	x.gone("new")
	x.holds("old", "new")
	x.holds("other", "old")
	x.hasMode("old", 0o640)
	if got := host.StatOf(x.lstat("old")).Ino; got != ino {
		x.Errorf("inode changed from %d to %d", ino, got)
	}
	if n := host.StatOf(x.lstat("other")).Nlink; n != 1 {
		x.Errorf("the replaced file has %d links, want 1", n)
	}
}

func renameOverLink(x tree) {
	x.write("target", "target")
	x.mkdir("dir")
	x.write("new", "new")
	x.link("target", "link")
	x.ok(x.fs.Rename(at("new"), at("link")))
	x.holds("link", "new")
	x.holds("target", "target")
	x.link("dir", "dirlink")
	x.ok(x.fs.Rename(at("link"), at("dirlink")))
	x.holds("dirlink", "new")
	x.same(x.entries("dir"))
}

func renameLink(x tree) {
	x.write("target", "target")
	x.link("target", "link")
	x.ok(x.fs.Rename(at("link"), at("moved")))
	x.linksTo("moved", "target")
	x.gone("link")
	x.link("nowhere", "dangling")
	x.ok(x.fs.Rename(at("dangling"), at("moved")))
	x.linksTo("moved", "nowhere")
	x.holds("target", "target")
}

func renameDirectories(x tree) {
	x.mkdir("dir")
	x.mkdir("empty")
	x.mkdir("full")
	x.write("full/file", "kept")
	x.write("file", "file")
	x.failsEither(x.fs.Rename(at("dir"), at("full")), syscall.ENOTEMPTY)
	x.failsEither(x.fs.Rename(at("dir"), at("file")), syscall.ENOTDIR)
	x.failsEither(x.fs.Rename(at("file"), at("empty")), syscall.EISDIR)
	x.failsEither(x.fs.Rename(at("file"), at("full")), syscall.EISDIR)
	x.ok(x.fs.Rename(at("full"), at("empty")))
	x.holds("empty/file", "kept")
	x.same(x.entries(""), "dir", "empty", "file")
}

func renameIntoItself(x tree) {
	x.mkdir("dir")
	x.mkdir("dir/sub")
	x.failsEither(x.fs.Rename(at("dir"), at("dir/sub/dir")), syscall.EINVAL)
	x.failsEither(x.fs.Rename(at("dir"), at("dir/new")), syscall.EINVAL)
	x.failsEither(x.fs.Rename(at("dir/sub"), at("dir")), syscall.ENOTEMPTY)
	x.same(x.entries("dir"), "sub")
}

func renameSame(x tree) {
	x.write("a", "same")
	x.ok(x.fs.Rename(at("a"), at("a")))
	x.holds("a", "same")
	x.ok(x.fs.Link(at("a"), at("b")))
	x.ok(x.fs.Rename(at("a"), at("b"))) // rename(2): nothing is done
	x.same(x.entries(""), "a", "b")
}

func renameOverOpen(x tree) {
	x.write("new", "new")
	x.write("old", "old")
	f, err := x.fs.Open(at("old"))
	x.ok(err)
	x.ok(x.fs.Rename(at("new"), at("old")))
	b := make([]byte, 3)
	_, err = f.Read(b)
	x.ok(err)
	if string(b) != "old" {
		x.Errorf("the open file reads %q, want the old content", b)
	}
	x.ok(f.Close())
	x.holds("old", "new")
}

func renameTree(x tree) {
	x.ok(x.fs.MkdirAll(at("from/a/b"), 0o755))
	x.write("from/a/b/file", "deep")
	x.link("../b", "from/a/b/link")
	x.mkdir("to")
	x.ok(x.fs.Rename(at("from"), at("to/moved")))
	x.holds("to/moved/a/b/link/file", "deep")
	x.gone("from")
}
