package host_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"hostler/interpreter/host"
)

// TestTurns: one at a time for each name, and who waits can give up.
func TestTurns(t *testing.T) {
	var turns host.Turns
	give, err := turns.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := turns.Take(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Take(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	inside, most := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			give, err := turns.Take(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			defer give()
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			mu.Lock()
			inside--
			mu.Unlock()
		})
	}
	give()
	if all.Wait(); most != 1 {
		t.Errorf("%d at once", most)
	}
}

// hurried makes each directory just before it is asked to.
type hurried struct{ host.Files }

func (h hurried) Mkdir(name string, mode os.FileMode) error {
	if err := h.Files.Mkdir(name, mode); err != nil {
		return err
	}
	return h.Files.Mkdir(name, mode)
}

// TestMakeParentsBesideOthers: a directory that somebody else makes at the same
// time is there, too; a file in its place is not one.
func TestMakeParentsBesideOthers(t *testing.T) {
	f := newHost(t).Files
	if err := host.MakeParents(hurried{f}, "/a/b/c/file", 0o755); err != nil {
		t.Error(err)
	}
	if info, err := f.Stat("/a/b/c"); err != nil || !info.IsDir() {
		t.Error(err)
	}
	put(t, f, "/x", "", 0o644)
	if err := host.MakeParents(f, "/x/y", 0o755); err == nil {
		t.Error("a file counts as a directory")
	}
}
