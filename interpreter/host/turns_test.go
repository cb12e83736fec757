package host_test

import (
	"context"
	"errors"
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
