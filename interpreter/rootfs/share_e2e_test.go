//go:build e2e

package rootfs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// TestSecondSlotSharesBlocks: on a file system that can share blocks the
// second slot of an image takes no room for what the first has unchanged, and
// neither sees what the other does.
func TestSecondSlotSharesBlocks(t *testing.T) {
	dir := freshXFS(t)
	h, err := offline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := offline.Close(h); err != nil {
			t.Error(err)
		}
	})
	one, two := host.MachineRoot("one"), host.MachineRoot("two")
	if err := host.MakeParents(h.Files, one, 0o755); err != nil {
		t.Fatal(err)
	}
	image, err := resolveRef(t, debianTar(t), amd64)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	empty := used(t, dir)
	if r, err := Unpack(ctx, image, h, one, Options{}); err != nil || r.Shared != 0 {
		t.Fatalf("shared %d, %v", r.Shared, err)
	}
	first := used(t, dir) - empty
	want := listHashed(t, filepath.Join(dir, one))
	large := largest(t, filepath.Join(dir, one))
	edit := filepath.Join(dir, one, large)
	f, err := os.OpenFile(edit, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("lived in"), 5000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before := used(t, dir)
	r, err := Unpack(ctx, image, h, two, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, listHashed(t, filepath.Join(dir, two))); d != "" {
		t.Errorf("the first slot as it was (-) and the second (+):\n%s", d)
	}
	second := used(t, dir) - before
	t.Logf("the first slot takes %d MB, the second %d MB; %d MB are shared", first>>20, second>>20, r.Shared>>20)
	if r.Shared < r.Bytes/4 || second > first*3/4 {
		t.Errorf("the first slot takes %d bytes, the second %d; %d of %d are shared", first, second, r.Shared, r.Bytes)
	}
	if b, err := os.ReadFile(edit); err != nil || !strings.Contains(string(b[4990:5020]), "lived in") {
		t.Errorf("the first slot lost its edit: %v", err)
	}
}

// freshXFS mounts a new file system that can share blocks.
func freshXFS(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	disk, mount := filepath.Join(dir, "disk"), filepath.Join(dir, "mnt")
	run(t, "truncate", "-s", "1G", disk)
	run(t, "mkfs.xfs", "-q", "-m", "reflink=1", disk)
	run(t, "mkdir", mount)
	run(t, "mount", "-o", "loop", disk, mount)
	t.Cleanup(func() { run(t, "umount", mount) })
	return mount
}

// used is how many bytes of the file system are taken.
func used(t *testing.T, dir string) int64 {
	t.Helper()
	run(t, "sync", "-f", dir)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// largest is the name of the largest file of a tree.
func largest(t *testing.T, dir string) (name string) {
	t.Helper()
	size := int64(0)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() > size {
			size = info.Size()
			name, err = filepath.Rel(dir, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}
