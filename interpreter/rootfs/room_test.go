package rootfs

import (
	"context"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hostler/interpreter/host"
)

// TestRoom: with too little room nothing begins, and the error says how much
// is needed. What is compressed counts as what it says it holds.
func TestRoom(t *testing.T) {
	plain := tarOf(t, "f etc/zeros "+strings.Repeat("z", 300_000))
	layers := map[string]string{
		"plain": writeFile(t, "x.tar", plain), "gzip": writeFile(t, "x.tar.gz", gz(t, plain)), "zstd": writeFile(t, "x.tar.zst", zst(t, plain)),
		"layout":     "oci-layout:" + writeLayout(t, imageOfTar(t, plain)),
		"layout tar": "oci-layout:" + writeFile(t, "l.tar", tarDir(t, writeLayout(t, imageOfTar(t, plain)))),
	}
	for name, ref := range layers {
		image, err := resolveRef(t, ref, amd64)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := realHost(t)
		h.Storage = room{free: uint64(len(plain)) - 1}
		_, err = Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{})
		if err == nil || !strings.Contains(err.Error(), "the image needs at least") || !strings.Contains(err.Error(), "free") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := host.Lstat(h.Files, NewPath(host.MachineRoot("m"))); !host.Absent(err) {
			t.Errorf("%s: it began: %v", name, err)
		}
		h.Storage = room{free: uint64(len(plain))}
		if _, err := Unpack(context.Background(), image, h, host.MachineRoot("m"), Options{}); err != nil {
			t.Errorf("%s: with room: %v", name, err)
		}
	}
}

// TestRoomForDownloads: what must be fetched counts on the file system of the
// store, which may be the tree's.
func TestRoomForDownloads(t *testing.T) {
	reg := startRegistry(t, nil)
	push(t, reg+"/x:1", imageFrom(t, "linux/amd64", "f a one"))
	src, _ := netSource(t, reg+"/x:1")
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := realHost(t)
	size := uint64(image.Size)
	for _, c := range []struct {
		storage twoRooms
		want    string
	}{
		{twoRooms{cache: size - 1, tree: 1 << 40}, "must be fetched to /var/cache/hostler/sha256, but /var/cache has only"},
		{twoRooms{cache: size, tree: size - 1}, "the image needs at least"},
		{twoRooms{cache: 2*size - 1, tree: 2*size - 1, one: true}, "the image needs at least"},
		{twoRooms{unknown: true}, ""},
		{twoRooms{cache: 2 * size, tree: 2 * size, one: true}, ""},
	} {
		err := checkRoom(context.Background(), image, host.Host{Files: h.Files, Storage: c.storage}, host.MachineRoot("m"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.storage, err, c.want)
		}
	}
}

// twoRooms is a host with a file system for the cache and one for the trees.
type twoRooms struct {
	cache, tree  uint64
	one, unknown bool
}

func (r twoRooms) Mount(_ context.Context, name string) (host.MountState, error) {
	switch {
	case strings.HasPrefix(name, "/var/cache") && r.unknown:
		return host.MountState{}, host.Unknownf("not live")
	case strings.HasPrefix(name, "/var/cache") && !r.one:
		return host.MountState{Point: "/var/cache", FreeBytes: r.cache}, nil
	}
	return host.MountState{Point: "/", FreeBytes: r.tree}, nil
}

func (twoRooms) Mounts(context.Context) ([]host.MountState, error) { return nil, nil }

func TestSaidSize(t *testing.T) {
	plain := []byte(strings.Repeat("content ", 1000))
	var streamed strings.Builder
	w, err := zstd.NewWriter(&streamed)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a stream does not know its size beforehand
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data string
		want int64
	}{
		"gzip": {string(gz(t, plain)), 8000}, "zstd": {string(zst(t, plain)), 8000}, "zstd as a stream": {streamed.String(), 0},
		"plain": {string(plain), 0}, "nothing": {"", 0}, "damaged zstd": {"\x28\xb5\x2f\xfd\xff\xff", 0}, "three bytes": {"\x1f\x8b\x08", 0},
	} {
		if got := saidSize(strings.NewReader(c.data)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
