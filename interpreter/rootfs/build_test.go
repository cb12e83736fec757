package rootfs

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// parseEntries reads a layer as tests write it, one entry a line:
//
//	d NAME            directory          f NAME [TEXT]     file
//	l NAME -> TARGET  link               h NAME = OLD      hard link
//	p NAME            FIFO               c NAME            character device 1:3
//	b NAME            block device 7:0   g NAME            global header
//
// and, before any of these words, mode=0755 own=1:2 time=SECONDS x=NAME:VALUE.
func parseEntries(t testing.TB, text string) []*tar.Header {
	t.Helper()
	var all []*tar.Header
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, parseEntry(t, line))
		}
	}
	return all
}

const contentKey = "test.content"

func parseEntry(t testing.TB, line string) *tar.Header {
	t.Helper()
	h := &tar.Header{Mode: -1, ModTime: time.Unix(1_000_000_000, 123456789), Format: tar.FormatPAX, PAXRecords: map[string]string{}}
	words := strings.Fields(line)
	for len(words[0]) > 1 {
		key, value, _ := strings.Cut(words[0], "=")
		setWord(t, h, key, value)
		words = words[1:]
	}
	h.Name = words[1]
	rest := strings.Join(words[2:], " ")
	types := map[string]byte{"d": tar.TypeDir, "f": tar.TypeReg, "l": tar.TypeSymlink, "h": tar.TypeLink,
		"p": tar.TypeFifo, "c": tar.TypeChar, "b": tar.TypeBlock, "g": tar.TypeXGlobalHeader}
	typ, ok := types[words[0]]
	if !ok {
		t.Fatalf("entry %q", line)
	}
	h.Typeflag = typ
	mode := int64(0o644)
	switch typ {
	case tar.TypeDir:
		mode = 0o755
		if !strings.HasSuffix(h.Name, "/") {
			h.Name += "/"
		}
	case tar.TypeReg:
		h.Size = int64(len(rest))
		h.PAXRecords[contentKey] = rest
	case tar.TypeSymlink:
		h.Linkname, mode = strings.TrimPrefix(rest, "-> "), 0o777
	case tar.TypeLink:
		h.Linkname = strings.TrimPrefix(rest, "= ")
	case tar.TypeChar:
		h.Devmajor, h.Devminor = 1, 3
	case tar.TypeBlock:
		h.Devmajor = 7
	}
	if h.Mode < 0 {
		h.Mode = mode
	}
	return h
}

func setWord(t testing.TB, h *tar.Header, key, value string) {
	t.Helper()
	switch key {
	case "mode":
		mode, err := strconv.ParseInt(value, 8, 32)
		if err != nil {
			t.Fatal(err)
		}
		h.Mode = mode
	case "own":
		if _, err := fmt.Sscanf(value, "%d:%d", &h.Uid, &h.Gid); err != nil {
			t.Fatal(err)
		}
	case "time":
		s, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		h.ModTime = time.Unix(s, 0)
	case "x":
		name, v, _ := strings.Cut(value, ":")
		h.PAXRecords[paxXattr+name] = v
	case "r":
		name, v, _ := strings.Cut(value, ":")
		h.PAXRecords[name] = v
	default:
		t.Fatalf("word %q", key)
	}
}

// makeTar makes a tar of entries.
func makeTar(t testing.TB, all []*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range all {
		h := *h
		content := h.PAXRecords[contentKey]
		records := map[string]string{}
		for k, v := range h.PAXRecords {
			if k != contentKey {
				records[k] = v
			}
		}
		h.PAXRecords = records
		if h.Typeflag == tar.TypeXGlobalHeader {
			h = tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: h.Name, PAXRecords: records, Format: tar.FormatPAX}
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, text string) []byte { return makeTar(t, parseEntries(t, text)) }

// ground is a tree under test and a way to look at it.
type ground struct {
	name string
	tree tree
	list func() []string
	done func()
}

// grounds are empty trees: on descriptors, over a door onto a directory and
// over the door of a host in memory.
func grounds(t testing.TB) []ground {
	t.Helper()
	return []ground{atGround(t, os.Geteuid() == 0), doorGround(t), memoryGround(t)}
}

func memoryGround(t testing.TB) ground {
	t.Helper()
	h := memory.New(memory.Options{Offline: true}).Host()
	if err := h.Files.Mkdir("/tree", 0o700); err != nil {
		t.Fatal(err)
	}
	return ground{"memory", doorTree{h.Files, "/tree"}, func() []string { return listDoor(t, h.Files, "/tree") }, func() {}}
}

func atGround(t testing.TB, privileged bool) ground {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := newAtTree(dir, privileged)
	if err != nil {
		t.Fatal(err)
	}
	return ground{"at", at, func() []string { return listDir(t, dir) }, func() {
		if err := at.Close(); err != nil {
			t.Error(err)
		}
	}}
}

func doorGround(t testing.TB) ground {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return ground{"door", doorTree{dirFS{dir: dir}, "/"}, func() []string { return listDir(t, dir) }, func() {}}
}

// line describes one entry for comparison: everything a tree can hold.
type line struct {
	name, kind, content string
	mode                uint32
	uid, gid            int
	mtime               int64
	rdev                uint64
	xattrs              []string
	ino                 uint64
}

// listing prints lines sorted by name; hard links name the first of them.
func listing(all []line) []string {
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	first := map[uint64]string{}
	var out []string
	for _, l := range all {
		s := fmt.Sprintf("%s %s %04o %d:%d %d", l.kind, l.name, l.mode, l.uid, l.gid, l.mtime)
		if l.kind != "d" {
			if old, ok := first[l.ino]; ok {
				s += " = " + old
			} else {
				first[l.ino] = l.name
			}
		}
		if l.kind == "c" || l.kind == "b" {
			s += fmt.Sprintf(" %d", l.rdev)
		}
		if l.content != "" {
			s += fmt.Sprintf(" %q", l.content)
		}
		slices.Sort(l.xattrs)
		out = append(out, strings.TrimSpace(s+" "+strings.Join(l.xattrs, " ")))
	}
	return out
}

func kindOfMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "d"
	case m.IsRegular():
		return "f"
	case m&fs.ModeSymlink != 0:
		return "l"
	case m&fs.ModeNamedPipe != 0:
		return "p"
	case m&fs.ModeCharDevice != 0:
		return "c"
	case m&fs.ModeDevice != 0:
		return "b"
	}
	return "?"
}

func lineOf(name string, info fs.FileInfo) line {
	st := info.Sys().(*syscall.Stat_t)
	l := line{name: name, kind: kindOfMode(info.Mode()), mode: host.ModeBits(info.Mode()), uid: int(st.Uid), gid: int(st.Gid),
		mtime: info.ModTime().UnixNano(), rdev: uint64(st.Rdev), ino: st.Ino}
	if l.kind == "l" {
		l.mode = 0o777
	}
	if os.Geteuid() != 0 {
		l.uid, l.gid = 0, 0
	}
	return l
}

func listDir(t testing.TB, dir string) []string {
	t.Helper()
	var all []line
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		l := lineOf(rel, info)
		switch l.kind {
		case "f":
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			l.content = string(b)
		case "l":
			l.content, err = os.Readlink(name)
			if err != nil {
				return err
			}
		}
		l.xattrs = osXattrs(t, name)
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return listing(all)
}

func osXattrs(t testing.TB, name string) []string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(name, buf)
	if err != nil {
		return nil
	}
	var out []string
	for attr := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if attr == "" || attr == "security.selinux" {
			continue
		}
		v := make([]byte, 4096)
		m, err := unix.Lgetxattr(name, attr, v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s=%x", attr, v[:m]))
	}
	return out
}

func listDoor(t testing.TB, f host.Files, top string) []string {
	t.Helper()
	var all []line
	var walk func(name string)
	walk = func(name string) {
		info, err := host.Lstat(f, name)
		if err != nil {
			t.Fatal(err)
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
		if rel == "" {
			rel = "."
		}
		l := lineOf(rel, info)
		switch l.kind {
		case "f":
			l.content = readDoor(t, f, name)
		case "l":
			if l.content, err = f.ReadlinkIfPossible(name); err != nil {
				t.Fatal(err)
			}
		}
		if s, ok := f.(host.Special); ok {
			names, err := s.Llistxattr(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, attr := range names {
				v, err := s.Lgetxattr(name, attr)
				if err != nil {
					t.Fatal(err)
				}
				l.xattrs = append(l.xattrs, fmt.Sprintf("%s=%x", attr, v))
			}
		}
		all = append(all, l)
		if l.kind == "d" {
			names, err := host.Names(f, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, base := range names {
				walk(path.Join(name, base))
			}
		}
	}
	walk(top)
	return listing(all)
}

func readDoor(t testing.TB, f host.FileView, name string) string {
	t.Helper()
	file, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readDocument(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
