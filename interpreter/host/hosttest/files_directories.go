package hosttest

import (
	"syscall"

	"hostler/interpreter/host"
)

// directoryCases are about making and removing.
func directoryCases() map[string]func(tree) {
	return map[string]func(tree){
		"making one":                makeOne,
		"making all":                makeAll,
		"making all through links":  makeAllLinks,
		"removing":                  removing,
		"removing a tree":           removingTree,
		"a tree's links stay in it": removingTreeLinks,
		"the root stays":            rootStays,
		"inode numbers":             directoryInodes,
	}
}

func makeOne(x tree) {
	x.ok(x.fs.Mkdir(at("dir"), 0o750))
	if info := x.lstat("dir"); !info.IsDir() || info.Name() != "dir" {
		x.Errorf("made %s %v", info.Name(), info.Mode())
	}
	x.hasMode("dir", 0o750)
	x.same(x.entries("dir"))
}

func makeAll(x tree) {
	x.ok(x.fs.MkdirAll(at("a/b/c"), 0o755))
	x.ok(x.fs.MkdirAll(at("a/b/c"), 0o755))
	x.ok(x.fs.MkdirAll("/", 0o755))
	x.write("a/b/file", "")
	x.failsEither(x.fs.MkdirAll(at("a/b/file/d"), 0o755), syscall.ENOTDIR)
	x.same(x.entries("a/b"), "c", "file")
}

func makeAllLinks(x tree) {
	x.mkdir("dir")
	x.link("dir", "link")
	x.ok(x.fs.MkdirAll(at("link"), 0o755))
	x.ok(x.fs.MkdirAll(at("link/a/b"), 0o755))
	x.same(x.entries("dir"), "a")
	x.link("nowhere", "dangling")
	for _, name := range []string{"dangling", "dangling/below"} {
		if err := x.fs.MkdirAll(at(name), 0o755); err == nil {
			x.Errorf("MkdirAll(%s) through a dangling link succeeds", name)
		}
	}
	x.gone("nowhere")
}

func removing(x tree) {
	x.mkdir("dir")
	x.write("dir/file", "")
	x.fails(x.fs.Remove(at("dir")), syscall.ENOTEMPTY, at("dir"))
	x.same(x.entries("dir"), "file")
	x.ok(x.fs.Remove(at("dir/file")))
	x.ok(x.fs.Remove(at("dir")))
	x.gone("dir")
	x.fails(x.fs.Remove(at("dir")), syscall.ENOENT, at("dir"))
}

func removingTree(x tree) {
	x.ok(x.fs.MkdirAll(at("tree/a/b/c"), 0o755))
	x.write("tree/file", "")
	x.write("tree/a/b/file", "")
	x.write("treefile", "kept")
	x.ok(x.fs.RemoveAll(at("tree")))
	x.gone("tree")
	x.ok(x.fs.RemoveAll(at("tree")))
	x.holds("treefile", "kept")
	x.ok(x.fs.RemoveAll(at("treefile")))
	x.same(x.entries(""))
}

func removingTreeLinks(x tree) {
	x.ok(x.fs.MkdirAll(at("outside/dir"), 0o755))
	x.write("outside/file", "kept")
	x.write("outside/dir/file", "kept")
	x.mkdir("tree")
	x.link("../outside/file", "tree/file")
	x.link("../outside/dir", "tree/dir")
	x.link(at("outside"), "tree/abs")
	x.link("/", "tree/root")
	x.ok(x.fs.Link(at("outside/file"), at("tree/hard")))
	x.ok(x.fs.RemoveAll(at("tree")))
	x.gone("tree")
	x.holds("outside/file", "kept")
	x.holds("outside/dir/file", "kept")
}

func rootStays(x tree) {
	if err := x.fs.Remove("/"); err == nil {
		x.Error("Remove(/) succeeds")
	}
	x.mkdir("dir")
	if err := x.fs.Rename("/", at("dir/root")); err == nil {
		x.Error("Rename(/) succeeds")
	}
	info, err := host.Lstat(x.fs, "/")
	x.ok(err)
	if !info.IsDir() || info.Name() != "/" {
		x.Errorf("the root is %s %v", info.Name(), info.Mode())
	}
}

func directoryInodes(x tree) {
	x.mkdir("dir")
	a := host.StatOf(x.lstat("dir"))
	x.mkdir("dir/sub")
	b := host.StatOf(x.lstat("dir/sub"))
	if a.Ino == b.Ino || a.Ino == 0 || b.Ino == 0 {
		x.Errorf("inode numbers %d and %d", a.Ino, b.Ino)
	}
}
