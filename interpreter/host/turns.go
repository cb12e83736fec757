package host

import (
	"context"
	"sync"
)

// Turns lets those who share something within a process use it one after the
// other, by name. The zero value is ready.
type Turns struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// Take waits for the turn at a name and returns what gives it on; the error is
// that of ctx.
func (t *Turns) Take(ctx context.Context, name string) (give func(), err error) {
	t.mu.Lock()
	if t.busy == nil {
		t.busy = map[string]chan struct{}{}
	}
	turn := t.busy[name]
	if turn == nil {
		turn = make(chan struct{}, 1)
		t.busy[name] = turn
	}
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
