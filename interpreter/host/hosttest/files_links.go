package hosttest

import (
	"io/fs"
	"syscall"
	"time"

	"hostler/interpreter/host"
)

// linkCases are about symbolic and hard links.
func linkCases() map[string]func(tree) {
	return map[string]func(tree){
		"targets are kept verbatim":       verbatimTargets,
		"absolute links stay in the root": absoluteLinks,
		"climbing links stop at the root": climbingLinks,
		"a final link is followed":        followFinal,
		"a final link is not followed":    keepFinal,
		"links to directories on the way": linkedParents,
		"creating through a link":         createThrough,
		"hard links share the file":       hardLinks,
		"a hard link to a link":           hardLinkToLink,
	}
}

func verbatimTargets(x tree) {
	for _, target := range []string{"plain", "/absolute", "../up", "a//b/./c/", "/../..", "\xff", "sp ace", "/" + longTarget()} {
		x.link(target, "link")
		x.linksTo("link", target)
		info := x.lstat("link")
		if info.Mode().Type() != fs.ModeSymlink {
			x.Errorf("link has type %v", info.Mode())
		}
		if info.Size() != int64(len(target)) {
			x.Errorf("link to %q has size %d, want %d", target, info.Size(), len(target))
		}
		x.ok(x.fs.Remove(at("link")))
	}
}

func longTarget() string {
	b := make([]byte, 1000)
	for i := range b {
		b[i] = "abc/"[i%4]
	}
	return string(b)
}

func absoluteLinks(x tree) {
	x.mkdir("dir")
	x.write("dir/file", "inside")
	x.link(at("dir/file"), "abs")
	x.holds("abs", "inside")
	x.link(at("dir"), "absdir")
	x.holds("absdir/file", "inside")
}

func climbingLinks(x tree) {
	x.write("file", "inside")
	for _, climb := range []string{"/../../../../../../../..", "../../../../../../../.."} {
		x.link(climb+Dir+"/file", "climb")
		x.holds("climb", "inside")
		x.ok(x.fs.Remove(at("climb")))
	}
	x.link("../../../../../../../../", "root")
	info, err := x.fs.Stat(at("root"))
	x.ok(err)
	top, err := x.fs.Stat("/")
	x.ok(err)
	if host.StatOf(info).Ino != host.StatOf(top).Ino || !top.IsDir() {
		x.Errorf("climbing link leads to inode %d, want the root's %d", host.StatOf(info).Ino, host.StatOf(top).Ino)
	}
	x.holds("root"+Dir+"/file", "inside")
	x.write("root"+Dir+"/made", "through")
	x.holds("made", "through")
}

func followFinal(x tree) {
	x.write("file", "content")
	x.link("file", "link")
	x.link("link", "link2")
	info, err := x.fs.Stat(at("link2"))
	x.ok(err)
	if !info.Mode().IsRegular() || info.Size() != 7 || info.Name() != "link2" {
		x.Errorf("Stat of a link gives %s %v %d", info.Name(), info.Mode(), info.Size())
	}
	x.holds("link2", "content")
	x.ok(x.fs.Chmod(at("link2"), 0o600))
	x.hasMode("file", 0o600)
	when := time.Unix(1e9, 5e8)
	x.ok(x.fs.Chtimes(at("link2"), when, when))
	if got := x.lstat("file").ModTime(); !got.Equal(when) {
		x.Errorf("Chtimes through a link: %v, want %v", got, when)
	}
	x.link("nowhere", "dangling")
	x.allFail(readers(), syscall.ENOENT, at("dangling"))
}

func keepFinal(x tree) {
	x.write("file", "content")
	x.mkdir("dir")
	x.write("dir/kept", "kept")
	x.link("file", "link")
	x.link("dir", "dirlink")
	x.ok(x.fs.Lchown(at("link"), 0, 0))
	x.linksTo("link", "file")
	x.ok(x.fs.Remove(at("link")))
	x.holds("file", "content")
	x.ok(x.fs.Remove(at("dirlink")))
	x.link(at("dir"), "dirlink")
	x.ok(x.fs.RemoveAll(at("dirlink")))
	x.gone("dirlink")
	x.holds("dir/kept", "kept")
}

func linkedParents(x tree) {
	x.mkdir("dir")
	x.link("dir", "link")
	x.write("link/file", "1")
	x.holds("dir/file", "1")
	x.ok(x.fs.Mkdir(at("link/sub"), 0o755))
	x.ok(x.fs.MkdirAll(at("link/sub/deep/er"), 0o755))
	x.ok(x.fs.SymlinkIfPossible("file", at("link/sym")))
	x.ok(x.fs.Link(at("link/file"), at("link/hard")))
	x.ok(x.fs.Rename(at("link/file"), at("link/moved")))
	x.ok(x.fs.Remove(at("link/moved")))
	x.ok(x.fs.RemoveAll(at("link/sub/deep")))
	x.same(x.entries("dir"), "hard", "sub", "sym")
	x.same(x.entries("dir/sub"))
	x.linksTo("link", "dir")
}

func createThrough(x tree) {
	x.mkdir("dir")
	x.link("dir/made", "link")
	f, err := x.fs.OpenFile(at("link"), syscall.O_WRONLY|syscall.O_CREAT, 0o640)
	x.ok(err)
	x.ok(f.Close())
	x.hasMode("dir/made", 0o640)
	x.linksTo("link", "dir/made")
}

func hardLinks(x tree) {
	x.write("a", "old")
	x.ok(x.fs.Link(at("a"), at("b")))
	x.write("b", "new")
	x.holds("a", "new")
	x.ok(x.fs.Chmod(at("a"), 0o600))
	x.hasMode("b", 0o600)
	a, b := host.StatOf(x.lstat("a")), host.StatOf(x.lstat("b"))
	if a.Ino != b.Ino || a.Dev != b.Dev || a.Nlink != 2 || b.Nlink != 2 {
		x.Errorf("hard links differ: %+v and %+v", a, b)
	}
	x.ok(x.fs.Remove(at("a")))
	x.holds("b", "new")
	if n := host.StatOf(x.lstat("b")).Nlink; n != 1 {
		x.Errorf("%d links after removing one of two", n)
	}
}

func hardLinkToLink(x tree) {
	x.write("file", "")
	x.link("file", "link")
	x.ok(x.fs.Link(at("link"), at("copy")))
	x.linksTo("copy", "file")
	if n := host.StatOf(x.lstat("file")).Nlink; n != 1 {
		x.Errorf("the target has %d links: the link was followed", n)
	}
}
