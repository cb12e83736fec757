package rootfs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
)

func run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

func plainImage(t testing.TB, text string) Image {
	t.Helper()
	image, err := resolveRef(t, writeFile(t, "x.tar", tarOf(t, text)), amd64)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestUnpackAndMark(t *testing.T) {
	h, dir := realHost(t)
	root := host.MachineRoot("kube1")
	if digest, ok, err := Complete(h.Files, "kube1"); ok || err != nil {
		t.Fatalf("before: %q %v %v", digest, ok, err)
	}
	image := plainImage(t, "f etc/os-release ID=x\n f a 1")
	r, err := Unpack(context.Background(), image, h, root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Digest != image.Digest || r.Entries != 2 || r.Bytes != 5 || len(r.Warnings) != 0 {
		t.Errorf("result %+v", r)
	}
	digest, ok, err := Complete(h.Files, "kube1")
	if digest != image.Digest || !ok || err != nil {
		t.Errorf("after: %q %v %v", digest, ok, err)
	}
	mark, _, err := ReadMark(h.Files, root)
	if err != nil || mark.Image != image.Ref || mark.Identity != image.Identity || mark.Platform != "linux/amd64" {
		t.Errorf("mark %+v %v", mark, err)
	}
	// Unpacking again leaves nothing of the old tree.
	if _, err := Unpack(context.Background(), plainImage(t, "f b 2"), h, root, Options{}); err != nil {
		t.Fatal(err)
	}
	if tree := strings.Join(brief(listDir(t, filepath.Join(dir, root))), ";"); tree != `f b "2"` {
		t.Errorf("tree %s", tree)
	}
	names, err := os.ReadDir(filepath.Join(dir, host.MachinesDir, StateDir))
	if err != nil || len(names) != 1 || names[0].Name() != "kube1.json" {
		t.Errorf("left behind: %v %v", names, err)
	}
	// A mark without a tree is none.
	if err := RemoveTree(context.Background(), h, root); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Complete(h.Files, "kube1"); ok || err != nil {
		t.Errorf("mark without tree: %v %v", ok, err)
	}
}

// TestMarkCannotBeForged: nothing in an image reaches the mark (R064).
func TestMarkCannotBeForged(t *testing.T) {
	h, _ := realHost(t)
	image := plainImage(t, `l .hostler -> ../.hostler
		f .hostler/kube1.json {"format":1,"digest":"sha256:forged"}
		l up -> /../.hostler
		f up/kube1.json {"format":1,"digest":"sha256:forged"}
		h bad = gone`)
	if _, err := Unpack(context.Background(), image, h, host.MachineRoot("kube1"), Options{}); err == nil {
		t.Fatal("the bad link is taken")
	}
	if digest, ok, err := Complete(h.Files, "kube1"); ok || err != nil {
		t.Errorf("forged mark: %q %v %v", digest, ok, err)
	}
}

// stopFS fails the n-th change.
type stopFS struct {
	realFS
	left *int
}

var errStop = errors.New("killed")

func (s stopFS) spend() error {
	if *s.left--; *s.left < 0 {
		return errStop
	}
	return nil
}
func (s stopFS) Rename(a, b string) error {
	if err := s.spend(); err != nil {
		return err
	}
	return s.realFS.Rename(a, b)
}
func (s stopFS) Remove(a string) error {
	if err := s.spend(); err != nil {
		return err
	}
	return s.realFS.Remove(a)
}
func (s stopFS) SyncTree(a string) error {
	if err := s.spend(); err != nil {
		return err
	}
	return s.realFS.SyncTree(a)
}
func (s stopFS) Mkdir(a string, m os.FileMode) error {
	if err := s.spend(); err != nil {
		return err
	}
	return s.realFS.Mkdir(a, m)
}

// TestKilledUnpack: wherever it stops, the tree is complete or not taken for
// it, and the next run makes it whole.
func TestKilledUnpack(t *testing.T) {
	image := plainImage(t, "f a 1\n d d\n f d/x x")
	for n := 0; ; n++ {
		h, dir := realHost(t)
		root := host.MachineRoot("m")
		if n%2 == 1 { // over an incomplete tree
			if err := os.MkdirAll(filepath.Join(dir, root, "old"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		left := n
		stopping := h
		stopping.Files = stopFS{h.Files.(realFS), &left}
		_, err := Unpack(context.Background(), image, stopping, root, Options{})
		_, ok, cerr := Complete(h.Files, "m")
		if cerr != nil || ok && err != nil && !errors.Is(err, errStop) {
			t.Fatalf("%d: %v %v", n, err, cerr)
		}
		if ok {
			if tree := strings.Join(brief(listDir(t, filepath.Join(dir, root))), ";"); tree != `f a "1";d d;f d/x "x"` {
				t.Fatalf("%d: complete, but %s", n, tree)
			}
		}
		if _, err := Unpack(context.Background(), image, h, root, Options{}); err != nil {
			t.Fatalf("%d: again: %v", n, err)
		}
		if tree := strings.Join(brief(listDir(t, filepath.Join(dir, root))), ";"); tree != `f a "1";d d;f d/x "x"` {
			t.Fatalf("%d: again: %s", n, tree)
		}
		if err == nil && n > 8 {
			return
		}
	}
}

func TestUnpackFaults(t *testing.T) {
	ctx := context.Background()
	h, dir := realHost(t)
	root := host.MachineRoot("m")
	h.Storage = room{free: 10}
	_, err := Unpack(ctx, plainImage(t, "f a 1"), h, root, Options{})
	if err == nil || !strings.Contains(err.Error(), "has only 10 free") {
		t.Errorf("no room: %v", err)
	}
	h.Storage = room{err: host.Unknownf("not live")}
	image := plainImage(t, "f a 1")
	if _, err := Unpack(ctx, image, h, root, Options{}); err != nil {
		t.Errorf("unknown room: %v", err)
	}
	h.Storage = room{free: 1 << 40}
	image.Layers[0].Digest = sum([]byte("other"))
	_, err = Unpack(ctx, image, h, root, Options{})
	if err == nil || !strings.Contains(err.Error(), "damaged or not what the image names") {
		t.Errorf("other digest: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, root)); !os.IsNotExist(err) {
		t.Errorf("a tree that is not verified is visible: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, NewPath(root))); !os.IsNotExist(err) {
		t.Errorf("a failed tree is left: %v", err)
	}
	for text, want := range map[string]string{"": "is damaged", "{}": "is damaged", `{"format":2,"digest":"x"}`: "newer than this version"} {
		if err := os.WriteFile(filepath.Join(dir, MarkPath(root)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Complete(h.Files, "m"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("mark %q: %v", text, err)
		}
	}
	if err := isFull(&os.PathError{Err: syscall.ENOSPC}); !err {
		t.Error("ENOSPC is not full")
	}
}

// TestC78MountsAreNotCrossed: with something mounted below, nothing goes.
func TestC78MountsAreNotCrossed(t *testing.T) {
	h, dir := realHost(t)
	root := host.MachineRoot("m")
	keep := filepath.Join(dir, root, "mnt", "marker")
	if err := os.MkdirAll(filepath.Dir(keep), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.Storage = room{mounts: []host.MountState{{Point: root + "x", Source: "other"}, {Point: root + "/mnt", Source: "server:/data"}}}
	err := RemoveTree(context.Background(), h, root)
	if err == nil || !strings.Contains(err.Error(), root+"/mnt from server:/data is mounted there") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(keep); err != nil {
		t.Errorf("marker: %v", err)
	}
	h.Storage = room{err: errors.New("cannot read")}
	if err := RemoveTree(context.Background(), h, root); err == nil || !strings.Contains(err.Error(), "list mounts: cannot read") {
		t.Errorf("error %v", err)
	}
	h.Storage = room{err: host.Unknownf("offline")}
	if err := RemoveTree(context.Background(), h, root); err != nil {
		t.Errorf("offline: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, root)); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

// foreseeing is a file door of a shadow.
type foreseeing struct {
	realFS
	unknown map[string]string
}

func (f foreseeing) MarkUnknown(path, cause string) { f.unknown[path] = cause }

// TestShadow: on a shadow nothing is asked for and nothing unpacked; the mark
// says what would be, and the tree is unknown.
func TestShadow(t *testing.T) {
	h, dir := realHost(t)
	root := host.MachineRoot("m")
	shadow := foreseeing{h.Files.(realFS), map[string]string{}}
	h.Files = shadow
	image := Unresolved("https://images.example/x.tar?sig=secret", strings.Repeat("ab", 32), amd64)
	r, err := Unpack(context.Background(), image, h, root, Options{})
	if err != nil || r.Digest != "unresolved" {
		t.Errorf("result %+v %v", r, err)
	}
	if cause := shadow.unknown[root]; cause != "image https://images.example/x.tar is not unpacked yet" || len(shadow.unknown) != 1 {
		t.Errorf("unknown %v", shadow.unknown)
	}
	mark, err := os.ReadFile(filepath.Join(dir, MarkPath(root)))
	if err != nil || !strings.Contains(string(mark), `"identity": "sha256:abab`) || strings.Contains(string(mark), "secret") {
		t.Errorf("mark %s %v", mark, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, root)); !os.IsNotExist(err) {
		t.Errorf("there is a tree: %v", err)
	}
}

// TestCutTar: a tar whose bytes nobody vouches for is held to the mark of its
// end; that it stops between two entries, or in the filling behind one, is no
// end. With its sha256 it is what it is.
func TestCutTar(t *testing.T) {
	first := len(tarOf(t, "f etc/os-release ID=x")) - 1024
	whole := tarOf(t, "f etc/os-release ID=x\n f a 1")
	end := len(whole) - 1024
	for name, c := range map[string]struct {
		length int
		want   string // of the error, "" for none
	}{
		"whole":             {len(whole), ""},
		"between entries":   {first, "stops without the mark of its end"},
		"in the filling":    {first - 100, "stops without the mark of its end"},
		"before the mark":   {end, "stops without the mark of its end"},
		"half of the mark":  {end + 512, "stops without the mark of its end"},
		"within an entry":   {first - 512 + 1, "unexpected EOF"},
		"within its header": {first + 100, "unexpected EOF"},
	} {
		for packing, stored := range map[string][]byte{"plain": whole[:c.length], "gzip": gz(t, whole[:c.length])} {
			image, err := resolveRef(t, writeFile(t, "x.tar", stored), amd64)
			h, _ := realHost(t)
			root := host.MachineRoot("m")
			if err == nil {
				_, err = Unpack(context.Background(), image, h, root, Options{})
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %s: %v, want %q", name, packing, err, c.want)
			}
			if _, ok, err := ReadMark(h.Files, root); ok != (c.want == "") || err != nil {
				t.Errorf("%s, %s: marked complete: %v, %v", name, packing, ok, err)
			}
			if !strings.HasPrefix(c.want, "stops") {
				continue
			}
			src := Source{Image: writeFile(t, "x.tar", stored), SHA256: strings.TrimPrefix(sum(stored), "sha256:"), Files: hostFiles()}
			image, err = Resolve(context.Background(), src, amd64)
			if err == nil {
				_, err = Unpack(context.Background(), image, h, root, Options{})
			}
			if err != nil {
				t.Errorf("%s, %s, with its sha256: %v", name, packing, err)
			}
		}
	}
}
