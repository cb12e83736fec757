package lab

import (
	"path"
	"sync"
)

// slots limits how many tests hold hosts at a time. It counts tests, not
// hosts: a test that needs two of them never waits for itself, nor does a
// subtest whose parent has some.
type slots struct {
	free chan struct{}
	mu   sync.Mutex
	held map[string]bool // by test name
}

func newSlots(n int) *slots {
	return &slots{free: make(chan struct{}, n), held: map[string]bool{}}
}

// take waits for a slot for a test. The release it returns does nothing when
// the test, or one it is part of, had one already.
func (s *slots) take(test string) (release func()) {
	if s.has(test) {
		return func() {}
	}
	s.free <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[test] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, test)
		<-s.free
	}
}

// has says whether a test or one it is part of holds a slot.
func (s *slots) has(test string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; test != "."; test = path.Dir(test) {
		if s.held[test] {
			return true
		}
	}
	return false
}
