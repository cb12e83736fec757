package hosttest

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/afero"
)

// handleCases are about open files.
func handleCases() map[string]func(tree) {
	return map[string]func(tree){
		"open flags":               openFlags,
		"reading and seeking":      readAndSeek,
		"writing at offsets":       writeAtOffsets,
		"truncating":               truncating,
		"wrong direction":          wrongDirection,
		"after closing":            afterClosing,
		"removed but open":         removedButOpen,
		"an open file's own state": handleStat,
		"listing":                  listing,
		"listing in pieces":        listingPieces,
		"syncing":                  syncing,
	}
}

func (x tree) same(got []string, want ...string) {
	x.Helper()
	if !slices.Equal(got, want) {
		x.Errorf("got %q, want %q", got, want)
	}
}

func (x tree) open(name string, flag int) afero.File {
	x.Helper()
	f, err := x.fs.OpenFile(at(name), flag, 0o644)
	x.ok(err)
	x.Cleanup(func() { _ = f.Close() })
	return f
}

func openFlags(x tree) {
	tests := map[string]struct {
		flag int
		want string
	}{
		"plain":    {syscall.O_WRONLY, "XYdef"},
		"creat":    {syscall.O_WRONLY | syscall.O_CREAT, "XYdef"},
		"truncate": {syscall.O_WRONLY | syscall.O_TRUNC, "XY"},
		"append":   {syscall.O_WRONLY | syscall.O_APPEND, "abdefXY"},
		"rdwr":     {syscall.O_RDWR, "XYdef"},
	}
	for name, tt := range tests {
		x.Run(name, func(t *testing.T) {
			x := tree{t, x.fs}
			x.write("file", "abdef")
			f := x.open("file", tt.flag)
			_, err := f.Write([]byte("XY"))
			x.ok(err)
			x.ok(f.Close())
			x.holds("file", tt.want)
		})
	}
	f := x.open("fresh", syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL)
	x.ok(f.Close())
	x.holds("fresh", "")
}

func readAndSeek(x tree) {
	x.write("file", "0123456789")
	f := x.open("file", syscall.O_RDONLY)
	b := make([]byte, 4)
	_, err := io.ReadFull(f, b)
	x.ok(err)
	n, err := f.ReadAt(b, 8)
	if n != 2 || !errors.Is(err, io.EOF) || string(b[:2]) != "89" {
		x.Errorf("ReadAt past the end: %d %q %v", n, b[:n], err)
	}
	rest, err := io.ReadAll(f)
	x.ok(err)
	if string(rest) != "456789" {
		x.Errorf("ReadAt moved the offset: rest is %q", rest)
	}
	if n, err := f.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		x.Errorf("Read at the end: %d, %v", n, err)
	}
	for _, s := range []struct {
		off    int64
		whence int
		want   int64
	}{{2, io.SeekStart, 2}, {3, io.SeekCurrent, 5}, {-1, io.SeekEnd, 9}, {20, io.SeekStart, 20}} {
		if pos, err := f.Seek(s.off, s.whence); err != nil || pos != s.want {
			x.Errorf("Seek(%d, %d) = %d, %v", s.off, s.whence, pos, err)
		}
	}
	if n, err := f.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		x.Errorf("Read beyond the end: %d, %v", n, err)
	}
	_, err = f.Seek(-1, io.SeekStart)
	x.fails(err, syscall.EINVAL, at("file"))
}

func writeAtOffsets(x tree) {
	f := x.open("file", syscall.O_RDWR|syscall.O_CREAT)
	_, err := f.WriteAt([]byte("end"), 5)
	x.ok(err)
	_, err = f.WriteString("ab")
	x.ok(err)
	x.holds("file", "ab\x00\x00\x00end")
	_, err = f.Seek(10, io.SeekStart)
	x.ok(err)
	_, err = f.Write([]byte("!"))
	x.ok(err)
	x.holds("file", "ab\x00\x00\x00end\x00\x00!")
	if size := x.lstat("file").Size(); size != 11 {
		x.Errorf("size %d, want 11", size)
	}
}

func truncating(x tree) {
	x.write("file", "0123456789")
	f := x.open("file", syscall.O_RDWR)
	x.ok(f.Truncate(3))
	x.holds("file", "012")
	x.ok(f.Truncate(5))
	x.holds("file", "012\x00\x00")
	x.ok(f.Truncate(0))
	x.holds("file", "")
	x.fails(f.Truncate(-1), syscall.EINVAL, at("file"))
}

func wrongDirection(x tree) {
	x.write("file", "content")
	x.mkdir("dir")
	r := x.open("file", syscall.O_RDONLY)
	_, err := r.Write([]byte("x"))
	x.fails(err, syscall.EBADF, at("file"))
	x.failsEither(r.Truncate(1), syscall.EINVAL)
	w := x.open("file", syscall.O_WRONLY)
	_, err = w.Read(make([]byte, 1))
	x.fails(err, syscall.EBADF, at("file"))
	_, err = r.Readdir(-1)
	x.failsEither(err, syscall.ENOTDIR)
	_, err = r.Readdirnames(-1)
	x.failsEither(err, syscall.ENOTDIR)
	d := x.open("dir", syscall.O_RDONLY)
	_, err = d.Read(make([]byte, 1))
	x.fails(err, syscall.EISDIR, at("dir"))
	x.holds("file", "content")
}

func afterClosing(x tree) {
	x.write("file", "content")
	f := x.open("file", syscall.O_RDWR)
	x.ok(f.Close())
	_, read := f.Read(make([]byte, 1))
	_, write := f.Write([]byte("x"))
	_, stat := f.Stat()
	for what, err := range map[string]error{
		"Close": f.Close(), "Read": read, "Write": write, "Stat": stat, "Sync": f.Sync(), "Truncate": f.Truncate(0),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			x.Errorf("%s of a closed file: %v, want fs.ErrClosed", what, err)
		}
	}
	x.holds("file", "content")
}

func removedButOpen(x tree) {
	x.write("file", "content")
	f := x.open("file", syscall.O_RDWR)
	x.ok(x.fs.Remove(at("file")))
	b, err := io.ReadAll(f)
	x.ok(err)
	if string(b) != "content" {
		x.Errorf("read %q from a removed file", b)
	}
	_, err = f.Write([]byte(" and more"))
	x.ok(err)
	x.write("file", "another")
	info, err := f.Stat()
	x.ok(err)
	if info.Size() != 16 {
		x.Errorf("the removed file has size %d, want 16", info.Size())
	}
	x.holds("file", "another")
}

func handleStat(x tree) {
	x.write("file", "content")
	x.link("file", "link")
	f := x.open("link", syscall.O_RDWR)
	if f.Name() != at("link") {
		x.Errorf("Name is %q, want the name it was opened by", f.Name())
	}
	before, err := f.Stat()
	x.ok(err)
	if before.Name() != "link" || !before.Mode().IsRegular() || before.Size() != 7 || before.IsDir() {
		x.Errorf("Stat of an open file: %s %v %d", before.Name(), before.Mode(), before.Size())
	}
	x.ok(f.Truncate(2))
	if before.Size() != 7 {
		x.Error("an earlier FileInfo has changed")
	}
}

func syncing(x tree) {
	x.write("file", "content")
	x.ok(x.open("file", syscall.O_WRONLY).Sync())
	x.ok(x.open("", syscall.O_RDONLY).Sync())
	x.ok(x.fs.SyncTree(at("file")))
	x.ok(x.fs.SyncTree(Dir))
	x.ok(x.fs.SyncTree("/"))
}
