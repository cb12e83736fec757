package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// Door is what of a host telling needs.
type Door struct {
	Files   host.Files
	Network host.NetworkView
}

// DoorOf is the door of a host.
func DoorOf(h host.Host) Door { return Door{h.Files, h.Network} }

// Fault is a sink that could not be told.
type Fault struct {
	Sink string
	Err  error
}

// Board tells statuses to sinks, each in the background. A nil Board is one
// without sinks. It is used by one goroutine.
type Board struct {
	posts []*post
	stop  context.CancelFunc
}

// NewBoard begins to tell: nothing is sent before the first Tell. Close ends
// it. ctx carries values only: an interrupted run is told too.
func NewBoard(ctx context.Context, door Door, sinks []block.Sink) *Board {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &Board{stop: stop}
	for _, s := range sinks {
		p := &post{sink: s, to: teller(door, s), wake: make(chan struct{}, 1), done: make(chan struct{}), pause: firstPause}
		b.posts = append(b.posts, p)
		go p.serve(ctx)
	}
	return b
}

// Tell tells a status and does not wait. It takes the place of one that a sink
// has not been told yet.
func (b *Board) Tell(s Status) {
	if b == nil {
		return
	}
	for _, p := range b.posts {
		p.put(s, false)
	}
}

// Close tells the last status and waits until all sinks were told, each for
// its bound at most. It returns those that could not be.
func (b *Board) Close(last Status) (faults []Fault) {
	if b == nil {
		return nil
	}
	defer b.stop()
	var all sync.WaitGroup
	results := make([]error, len(b.posts))
	for i, p := range b.posts {
		p.put(last, true)
		all.Go(func() { results[i] = p.wait() })
	}
	all.Wait()
	for i, err := range results {
		if err != nil {
			faults = append(faults, Fault{b.posts[i].sink.Label, err})
		}
	}
	return faults
}

// telling sends one status. An error that wraps errPassing may be gone when it
// is tried again.
type telling func(ctx context.Context, s Status) error

func teller(door Door, s block.Sink) telling {
	switch {
	case s.Webhook != nil:
		return (&webhook{door, *s.Webhook}).tell
	case s.Kubernetes != nil:
		return (&condition{door: door, sink: *s.Kubernetes}).tell
	case s.File != nil:
		return fileTeller(door, *s.File)
	case s.KVP != nil:
		return kvpTeller(door, *s.KVP)
	case s.Metrics != nil:
		return metricsTeller(door, *s.Metrics)
	case s.Console != nil:
		return consoleTeller(door, *s.Console)
	}
	return func(context.Context, Status) error { return errors.New("this release does not know its kind") }
}

// errPassing marks errors that may pass.
var errPassing = errors.New("it may pass")

type passing struct{ error }

func (passing) Is(target error) bool { return target == errPassing }

func (p passing) Unwrap() error { return p.error }

// waiting is a passing error: a credential that is not there yet.
type waiting struct{ error }

func (waiting) Is(target error) bool { return target == errPassing }

// How long is waited between two tries: it doubles up to the longest.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// post is one sink and what it is to be told next.
type post struct {
	sink  block.Sink
	to    telling
	pause time.Duration
	wake  chan struct{}
	done  chan struct{} // closed when the last status is dealt with

	mu     sync.Mutex
	next   *Status
	last   bool
	err    error
	cancel context.CancelFunc // of the attempt that is under way
}

// put notes what is to be told next. The last status does not wait for a slow
// attempt at an older one.
func (p *post) put(s Status, last bool) {
	p.mu.Lock()
	p.next, p.last = &s, last
	if last && p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	p.ring()
}

func (p *post) ring() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take is what is to be told next, nil if nothing.
func (p *post) take() (s *Status, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, p.next = p.next, nil
	return s, p.last
}

// wait waits for the last status, as long as the sink may delay a run.
func (p *post) wait() error {
	bound, cancel := context.WithTimeout(context.Background(), p.sink.Timeout)
	defer cancel()
	select {
	case <-p.done:
	case <-bound.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.err != nil {
			return fmt.Errorf("not told within %s: %w", p.sink.Timeout, p.err)
		}
		return fmt.Errorf("not told within %s", p.sink.Timeout)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *post) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		if s, last := p.take(); s != nil {
			if p.tell(ctx, *s, last); last {
				close(p.done)
				return
			}
		}
	}
}

// tell sends a status until it is told, does not pass, or a newer one is
// there. When the run is over, no step will write a credential any more.
func (p *post) tell(ctx context.Context, s Status, last bool) {
	pause := p.pause
	for {
		err := p.attempt(ctx, s)
		p.mu.Lock()
		p.err = err
		newer := p.next != nil
		p.mu.Unlock()
		_, waits := errors.AsType[waiting](err)
		if err == nil || newer || waits && last || !errors.Is(err, errPassing) {
			return
		}
		if !p.rest(ctx, pause) {
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// attempt is one try, which takes no longer than the sink may delay a run.
func (p *post) attempt(ctx context.Context, s Status) error {
	ctx, cancel := context.WithTimeout(ctx, p.sink.Timeout)
	defer cancel()
	p.mu.Lock()
	p.cancel = cancel
	p.mu.Unlock()
	return p.to(ctx, s)
}

// rest waits before another try; false when there is none, as a newer status
// is there or nobody waits any more.
func (p *post) rest(ctx context.Context, pause time.Duration) bool {
	pausing, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	select {
	case <-pausing.Done():
		return ctx.Err() == nil
	case <-p.wake:
		p.ring() // serve takes it
		return false
	}
}
