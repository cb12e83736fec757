package rootfs

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// sampleTree makes a directory with all that a user can make, and as root with
// owners and devices.
func sampleTree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	long := filepath.Join(dir, strings.Repeat("l", 90), strings.Repeat("m", 120), strings.Repeat("n", 100))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(long, 0o755))
	must(os.WriteFile(filepath.Join(long, "deep"), []byte("deep"), 0o640))
	must(os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "file"), []byte("content\n"), 0o644))
	must(os.Chmod(filepath.Join(dir, "file"), 0o4755|os.ModeSetuid))
	must(os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "hard")))
	must(os.Symlink("/absolute/"+strings.Repeat("t", 150), filepath.Join(dir, "link")))
	must(os.Symlink("../../../dangling", filepath.Join(dir, "up")))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "name with ünï"), nil, 0o600))
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	must(err)
	_, err = sparse.WriteAt([]byte("end"), 3<<20)
	must(err)
	_, err = sparse.WriteAt([]byte("mid"), 1<<20)
	must(err)
	must(sparse.Close())
	if os.Geteuid() == 0 {
		must(syscall.Mknod(filepath.Join(dir, "null"), syscall.S_IFCHR|0o666, 259))
		must(os.Lchown(filepath.Join(dir, "link"), 12, 34))
		must(os.Chown(filepath.Join(dir, "empty"), 100000, 3000000))
	}
	at := time.Unix(978307200, 5000)
	for _, name := range []string{"sparse", "file", "empty"} {
		must(os.Chtimes(filepath.Join(dir, name), at, at))
	}
	return dir
}

// TestAgainstTar unpacks what tar packs, in all its formats, and compares with
// what tar unpacks.
func TestAgainstTar(t *testing.T) {
	src := sampleTree(t)
	for _, format := range []string{"gnu", "pax", "oldgnu", "gnu -S", "pax -S --sparse-version=1.0", "pax -S --sparse-version=0.1", "pax -S --sparse-version=0.0"} {
		t.Run(format, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.tar")
			run(t, append(append([]string{"tar", "-C", src, "-cf", file, "--sort=name", "--format"}, strings.Fields(format)...), ".")...)
			want := filepath.Join(t.TempDir(), "theirs")
			if err := os.Mkdir(want, 0o700); err != nil {
				t.Fatal(err)
			}
			run(t, "tar", "-C", want, "-xpf", file, "--numeric-owner")
			image, err := resolveRef(t, file, amd64)
			if err != nil {
				t.Fatal(err)
			}
			h, dir := realHost(t)
			if _, err := Unpack(context.Background(), image, h, "/var/lib/machines/m", Options{MapOwners: true}); err != nil {
				t.Fatal(err)
			}
			ours := filepath.Join(dir, "/var/lib/machines/m")
			if d := cmp.Diff(listDir(t, want), listDir(t, ours)); d != "" {
				t.Errorf("tar (-) and we (+):\n%s", d)
			}
			var st syscall.Stat_t
			if err := syscall.Stat(filepath.Join(ours, "sparse"), &st); err != nil || st.Blocks*512 > 1<<20 {
				t.Errorf("the sparse file takes %d bytes on disk (%v)", st.Blocks*512, err)
			}
		})
	}
}

// TestC61Dialects: odd but legal archives.
func TestC61Dialects(t *testing.T) {
	cases := []struct{ name, layer, want string }{
		{"global header", "r=comment:0123 g pax_global_header\n f a x", `f a 0644 0:0 1000000000123456789 "x"`},
		{"global header with times", "r=mtime:5.5 r=comment:x g pax_global_header\n time=7 f a x", `f a 0644 0:0 5500000000 "x"`},
		{"global owner", "r=uid:11 r=gid:12 r=SCHILY.xattr.user.k:v g g\n time=7 f a x", `f a 0644 11:12 7000000000 "x" user.k=76`},
		{"own records before global ones", "r=mtime:5.5 g g\n f a x", `f a 0644 0:0 1000000000123456789 "x"`},
		{"root entry", "mode=0700 own=0:0 time=9 d ./\n time=7 f ./a x", `f a 0644 0:0 7000000000 "x"`},
		{"duplicates", "time=7 f a x\n time=8 f a y", `f a 0644 0:0 8000000000 "y"`},
	}
	for _, c := range cases {
		for _, g := range grounds(t) {
			if _, err := applyAll(t, g, rules{privileged: true}, tarOf(t, c.layer)); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			all := g.list()
			if len(all) != 2 || all[1] != c.want {
				t.Errorf("%s on %s: %q, want %q", c.name, g.name, all, c.want)
			}
			if c.name == "root entry" && all[0] != "d . 0700 0:0 9000000000" {
				t.Errorf("top: %s", all[0])
			}
			g.done()
		}
	}
}

// raw makes an archive by hand, for what no writer makes: entries of 512-byte
// headers with right checksums.
func raw(headers ...rawHeader) []byte {
	var b bytes.Buffer
	for _, h := range headers {
		block := make([]byte, 512)
		copy(block[0:], h.name)
		copy(block[100:], "0000755\x000000000\x000000000\x00")
		copy(block[124:], fmt.Sprintf("%011o\x00%011o\x00", len(h.content), 0))
		block[156] = h.typ
		if !h.v7 {
			copy(block[257:], "ustar\x0000")
		}
		copy(block[148:], "        ")
		sum := 0
		for _, c := range block {
			sum += int(c)
		}
		copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
		b.Write(block)
		b.WriteString(h.content)
		b.Write(make([]byte, (512-len(h.content)%512)%512))
	}
	return append(b.Bytes(), make([]byte, 1024)...)
}

type rawHeader struct {
	name, content string
	typ           byte
	v7            bool
}

func record(key, value string) string {
	n := len(key) + len(value) + 3
	for len(fmt.Sprint(n))+len(key)+len(value)+3 != n {
		n++
	}
	return fmt.Sprintf("%d %s=%s\n", n, key, value)
}

func TestC61OddHeaders(t *testing.T) {
	sparse := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "s") +
		record("GNU.sparse.realsize", "100000")
	body := "1\n0\n5\n" + strings.Repeat("\x00", 512-6) + "hello"
	cases := []struct {
		name string
		tar  []byte
		want string // a listing, or an error
	}{
		{"regular file with a slash", raw(rawHeader{name: "dir/", typ: '0'}), "d dir"},
		{"old archive", raw(rawHeader{name: "dir/", typ: 0, v7: true}, rawHeader{name: "f", typ: 0, v7: true, content: "x"}), `d dir;f f "x"`},
		{"contiguous file", raw(rawHeader{name: "f", typ: '7', content: "x"}), `f f "x"`},
		{"label of a volume", raw(rawHeader{name: "label", typ: 'V'}, rawHeader{name: "f", typ: '0'}), "f f"},
		{"continued volume", raw(rawHeader{name: "f", typ: 'M'}), `entry "f": entries of type 'M' are not supported`},
		{"nameless", raw(rawHeader{name: "", typ: '0'}), "its name is empty"},
		{"link without target", raw(rawHeader{name: "l", typ: '2'}), "target is empty"},
		{"sparse with the logical size", raw(rawHeader{name: "x", typ: 'x', content: sparse + record("size", "100000")},
			rawHeader{name: "GNUSparseFile.0/s", typ: '0', content: body}), "damaged|ends after|not a readable|unexpected EOF|sparse"},
		{"cut", raw(rawHeader{name: "f", typ: '0', content: strings.Repeat("x", 2000)})[:1024], "unexpected EOF"},
	}
	for _, c := range cases {
		for _, g := range grounds(t) {
			_, err := applyAll(t, g, rules{privileged: true}, c.tar)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = strings.Join(brief(g.list()), ";")
			}
			found := false
			for want := range strings.SplitSeq(c.want, "|") {
				found = found || err == nil && got == want || err != nil && strings.Contains(got, want)
			}
			if !found {
				t.Errorf("%s on %s: %s, want %s", c.name, g.name, got, c.want)
			}
			g.done()
		}
	}
}

func TestExtremeAttributes(t *testing.T) {
	for _, h := range []tar.Header{{Uid: -1}, {Gid: 1 << 33}} {
		if _, err := attrsOf(&h, nil); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%+v: %v", h, err)
		}
	}
	for _, s := range []int64{1 << 40, -1 << 40} {
		a, err := attrsOf(&tar.Header{ModTime: time.Unix(s, 0)}, nil)
		if err != nil || (a.mtime > 0) != (s > 0) || a.mtime%1_000_000_000 != 0 {
			t.Errorf("time %d: %d %v", s, a.mtime, err)
		}
	}
	for _, h := range []tar.Header{{Devmajor: -1}, {Devminor: -1}, {Devmajor: 4096}, {Devminor: 1 << 20}} {
		h.Typeflag = tar.TypeChar
		if _, err := objectOf(&h, attrs{}); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("device %d:%d is taken: %v", h.Devmajor, h.Devminor, err)
		}
	}
	if o, err := objectOf(&tar.Header{Typeflag: tar.TypeBlock, Devmajor: 4095, Devminor: 1<<20 - 1}, attrs{}); err != nil || unix.Major(o.dev) != 4095 || unix.Minor(o.dev) != 1<<20-1 {
		t.Errorf("the largest device number: %+v, %v", o, err)
	}
	for _, target := range []string{"", "a\x00b", strings.Repeat("x", 4096)} {
		if checkTarget(target) == nil {
			t.Errorf("target %.10q is taken", target)
		}
	}
	if _, err := cleanName("a\x00b"); err == nil {
		t.Error("a name with NUL is taken")
	}
	for key, value := range map[string]string{"mtime": "x", "uid": "x"} {
		if err := applyGlobal(&attrs{}, nil, map[string]string{key: value}); err == nil {
			t.Errorf("global %s=%s is taken", key, value)
		}
	}
}
