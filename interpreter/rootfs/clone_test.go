package rootfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// copyClone stands in for the call that shares blocks: what it gives is the
// same, without the sharing.
func copyClone(to, from int) error {
	for buf, at := make([]byte, 1<<16), int64(0); ; {
		n, err := unix.Pread(from, buf, at)
		if err != nil || n == 0 {
			return err
		}
		if _, err := unix.Pwrite(to, buf[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
}

// TestTwin: a tree whose twin was changed in every way is still the image's,
// and what is the same is shared.
func TestTwin(t *testing.T) {
	big := func(seed string) string { return strings.Repeat(seed, 200_000/len(seed)) }
	layer := tarOf(t, "f same "+big("s")+"\n f changed "+big("c")+"\n f grown "+big("g")+"\n f gone "+big("o")+
		"\n f linked "+big("l")+"\n f piped "+big("p")+"\n f small s\n f d/deep "+big("d")+"\n x=user.k:v f attr "+big("a"))
	lived := filepath.Join(t.TempDir(), "lived")
	if err := os.MkdirAll(filepath.Join(lived, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(lived, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("same", big("s"))
	write("changed", big("c")[:150_000]+"X"+big("c")[150_001:])
	write("grown", big("g")+"more")
	write("d/deep", big("d"))
	write("attr", big("a"))
	write("outside", big("l"))
	if err := errors.Join(os.Symlink("outside", filepath.Join(lived, "linked")), unix.Mkfifo(filepath.Join(lived, "piped"), 0o600)); err != nil {
		t.Fatal(err)
	}
	plain, with := atGround(t, true), atGround(t, true)
	at := with.tree.(*atTree)
	if err := at.openTwin(lived); err != nil {
		t.Fatal(err)
	}
	at.twin.clone = copyClone
	var lists [2][]string
	for i, g := range []ground{plain, with} {
		if _, err := applyAll(t, g, rules{privileged: true}, layer); err != nil {
			t.Fatal(err)
		}
		lists[i] = g.list()
		g.done()
	}
	if strings.Join(lists[0], "\n") != strings.Join(lists[1], "\n") {
		t.Error("with a twin the tree is another one")
	}
	// The changed file is the same up to the block in which it differs.
	if least, most := int64(3*200_000), int64(4*200_000); at.twin.shared < least || at.twin.shared > most {
		t.Errorf("%d bytes are shared", at.twin.shared)
	}
}

// TestTwinThatCannotShare: a file system that cannot share blocks is asked
// once.
func TestTwinThatCannotShare(t *testing.T) {
	g := atGround(t, true)
	at := g.tree.(*atTree)
	lived := t.TempDir()
	content := strings.Repeat("x", cloneMin)
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(lived, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := at.openTwin(lived); err != nil {
		t.Fatal(err)
	}
	asked := 0
	at.twin.clone = func(int, int) error { asked++; return unix.EOPNOTSUPP }
	if _, err := applyAll(t, g, rules{privileged: true}, tarOf(t, "f a "+content+"\n f b "+content)); err != nil {
		t.Fatal(err)
	}
	if list := brief(g.list()); asked != 1 || len(list) != 2 || list[1] != fmt.Sprintf("f b %q", content) {
		t.Errorf("asked %d times, %.50q", asked, list)
	}
	g.done()
	if err := at.openTwin(filepath.Join(lived, "gone")); err == nil {
		t.Error("a twin that is not there is opened")
	}
}

// TestSecondSlot: the second slot of one image finds the first one, however
// the first was changed since, and no other tree.
func TestSecondSlot(t *testing.T) {
	h, dir := realHost(t)
	ctx := context.Background()
	image, other := plainImage(t, "f big "+strings.Repeat("b", 100_000)), plainImage(t, "f x")
	for name, i := range map[string]Image{"one": image, "two": other} {
		if _, err := Unpack(ctx, i, h, host.MachineRoot(name), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, host.MachineRoot("one"), "big"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := findTwin(h.Files, host.MachineRoot("three"), image.Digest); got != host.MachineRoot("one") {
		t.Errorf("the twin is %q", got)
	}
	if got := findTwin(h.Files, host.MachineRoot("one"), image.Digest); got != "" {
		t.Errorf("a tree is its own twin: %q", got)
	}
	if got := findTwin(h.Files, "/not/there", image.Digest); got != "" {
		t.Errorf("a twin out of nothing: %q", got)
	}
	if _, err := Unpack(ctx, image, h, host.MachineRoot("three"), Options{}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, host.MachineRoot("three"), "big")); err != nil || len(b) != 100_000 {
		t.Errorf("the second slot has %d bytes, %v", len(b), err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, host.MachineRoot("one"), "big")); err != nil || string(b) != "edited" {
		t.Errorf("the first slot has %q, %v", b, err)
	}
}

// TestLateFaults: a file that cannot be written fails the run under its own
// name, at the next entry or at the end.
func TestLateFaults(t *testing.T) {
	for _, more := range []bool{true, false} {
		g := atGround(t, true)
		at := g.tree.(*atTree)
		f := &newFile{fd: -1, name: "etc/first"}
		f.left.Store(1)
		at.writers.busy.Add(1)
		at.write(writeJob{file: f, buf: <-at.writers.free, n: 0})
		at.writers.busy.Wait()
		text := "d d"
		if more {
			text = "f second x\n d d"
		}
		_, err := applyAll(t, g, rules{privileged: true}, tarOf(t, text))
		if err == nil || !strings.HasPrefix(err.Error(), `entry "etc/first": make: `) || !errors.Is(err, unix.EBADF) {
			t.Errorf("error %v", err)
		}
		if err := at.Close(); !errors.Is(err, unix.EBADF) {
			t.Errorf("closing: %v", err)
		}
	}
	at := atGround(t, true).tree.(*atTree)
	for _, size := range []int64{10, 3 * partSize} {
		_, err := at.Put(fmt.Sprint("f", size), object{content: io.LimitReader(zeros{}, size-1), size: size})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("content that ends early: %v", err)
		}
		_, err = at.Put(fmt.Sprint("x", size), object{content: bytes.NewReader(make([]byte, size-1)), size: size, attrs: attrs{xattrs: []xattr{{"user.k", "v"}}}})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("content with attributes that ends early: %v", err)
		}
	}
	if err := at.Close(); err != nil {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
