package host_test

import (
	"context"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
)

func TestRemoveDir(t *testing.T) {
	m := memory.New(memory.Options{
		Mounts: []memory.Mount{{Point: "/mnt/data", Type: "xfs"}},
		Files:  map[string]memory.File{"/srv/full/theirs": {}, "/srv/empty/x": {}},
	})
	h, ctx := m.Host(), context.Background()
	if err := h.Files.Remove("/srv/empty/x"); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/mnt/data": "is a mount point now", "/srv/full": "holds files of others now", "/srv/empty": "", "/srv/never": "",
	} {
		if stays, err := host.RemoveDir(ctx, h, dir); err != nil || stays != want {
			t.Errorf("%s: %q, %v; want %q", dir, stays, err, want)
		}
	}
	if _, err := h.Files.Stat("/srv/empty"); !host.Absent(err) {
		t.Errorf("the empty one is still there: %v", err)
	}
	// Busy without a mount is a failure.
	if err := h.Files.Mkdir("/srv/busy", 0o755); err != nil {
		t.Fatal(err)
	}
	if stays, err := host.RemoveDir(ctx, fault.Wrap(h, fault.FailAt(1, syscall.EBUSY)), "/srv/busy"); err == nil || stays != "" {
		t.Errorf("busy: %q, %v", stays, err)
	}
}
