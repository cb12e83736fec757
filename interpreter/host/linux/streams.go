package linux

import (
	"io"
	"os"
	"sync"
	"time"

	"hostler/interpreter/host"
)

// streams are the pipes to a program that another process runs.
type streams struct {
	stdout, stderr *capped
	stdin, input   *os.File // both ends; nil for /dev/null
	theirs, ours   []*os.File
	reading        sync.WaitGroup
}

func openStreams(c host.Command) (*streams, error) {
	s := &streams{stdout: &capped{limit: maxOutput(c)}, stderr: &capped{limit: maxOutput(c)}}
	for _, out := range []*capped{s.stdout, s.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			s.close()
			return nil, err
		}
		s.ours, s.theirs = append(s.ours, r), append(s.theirs, w)
		s.reading.Go(func() { _, _ = io.Copy(out, r) }) // until the last writer is gone, or close
	}
	if c.Stdin == nil {
		return s, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		s.close()
		return nil, err
	}
	s.stdin, s.input, s.theirs = r, w, append(s.theirs, r)
	return s, nil
}

// feed writes what the program reads.
func (s *streams) feed(stdin io.Reader) {
	if s.input == nil {
		return
	}
	input := s.input
	s.input = nil
	go func() {
		_, _ = io.Copy(input, stdin) // the program need not read it all
		_ = input.Close()
	}()
}

// given closes the ends that were handed over.
func (s *streams) given() {
	for _, f := range s.theirs {
		_ = f.Close()
	}
	s.theirs = nil
}

// drain waits for what is still in the pipes. The unit must be gone: the
// manager holds their other ends as long as it is loaded.
func (s *streams) drain() {
	done := make(chan struct{})
	go func() { s.reading.Wait(); close(done) }()
	timer := time.NewTimer(pipeGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (s *streams) close() {
	s.given()
	for _, f := range s.ours {
		_ = f.Close()
	}
	if s.input != nil {
		_ = s.input.Close()
	}
}
