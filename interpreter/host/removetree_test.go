package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func treeHost(offline bool) host.Host {
	return memory.New(memory.Options{
		Offline: offline,
		Files: map[string]memory.File{
			"/x/closed/file": {}, "/x/closed": {Dir: true, Mode: 0o500}, "/x/shut/deep/file": {}, "/x/shut": {Dir: true, Mode: 0o001},
			"/x/link": {Link: "/y"}, "/y/stays": {}, "/m/in/a": {}, "/m/in/mnt/x": {}, "/f": {Content: "f"},
		},
		Mounts: []memory.Mount{{Point: "/m/in/mnt", Source: "server:/data"}},
	}).Host()
}

// TestRemoveTree: all of it goes, directories that keep their owner out as
// well, and nothing else.
func TestRemoveTree(t *testing.T) {
	for _, offline := range []bool{false, true} {
		h := treeHost(offline)
		for _, name := range []string{"/x", "/x", "/f", "/not/there"} {
			if err := host.RemoveTree(t.Context(), h, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := host.Lstat(h.Files, name); !host.Absent(err) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
		if _, err := host.Lstat(h.Files, "/y/stays"); err != nil {
			t.Error(err)
		}
		err := host.RemoveTree(t.Context(), h, "/m")
		if err == nil || !strings.Contains(err.Error(), "/m/in/mnt is a mount point") || !offline && !strings.Contains(err.Error(), "/m/in/mnt from server:/data is mounted there") {
			t.Errorf("across a mount: %v", err)
		}
		if _, err := host.Lstat(h.Files, "/m/in/a"); err != nil {
			t.Errorf("it began before it refused: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := host.RemoveTree(ctx, h, "/y"); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

type noMounts struct {
	host.StorageView
	err error
}

func (n noMounts) Mounts(context.Context) ([]host.MountState, error) { return nil, n.err }

// TestRemoveTreeWithoutMounts: mounts that cannot be listed stop it.
func TestRemoveTreeWithoutMounts(t *testing.T) {
	h := treeHost(false)
	broken := errors.New("cannot read")
	h.Storage = noMounts{err: broken}
	if err := host.RemoveTree(t.Context(), h, "/x"); !errors.Is(err, broken) || !strings.Contains(err.Error(), "remove /x: list mounts") {
		t.Error(err)
	}
	if _, err := host.Lstat(h.Files, "/x/link"); err != nil {
		t.Error(err)
	}
}

func TestMountWithin(t *testing.T) {
	for _, offline := range []bool{false, true} {
		h := treeHost(offline)
		for name, want := range map[string]string{"/m": "/m/in/mnt", "/m/in/mnt": "/m/in/mnt", "/x": "", "/none": "", "/none/none": ""} {
			if got, err := host.MountWithin(t.Context(), h.View(), name); err != nil || got != want {
				t.Errorf("%s: %q (%v), want %q", name, got, err, want)
			}
		}
	}
}
