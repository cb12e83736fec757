package rootfs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// passing marks a fault that may be gone at the next try.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// Passing says whether the error is a fault of the network or of a server that
// may be gone at the next try.
func Passing(err error) bool {
	_, ok := errors.AsType[passing](err)
	return ok
}

// statusError is an answer that is not the one wanted.
type statusError struct {
	host, what string
	status     int
	after      time.Duration // how long the server asks to wait
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers %d %s to a request for %s", e.host, e.status, http.StatusText(e.status), e.what)
}

// The bounds of the tries for one blob. A try that brings bytes does not
// count, up to maxTries.
const (
	idleTries = 5
	maxTries  = 60
	firstWait = time.Second
	longWait  = 16 * time.Second
	maxAfter  = 5 * time.Minute // the longest Retry-After that is waited for
)

// fetch brings a blob into the store. One that is there is noted as used.
func (src Source) fetch(ctx context.Context, w wanted, from opener) error {
	give, err := src.Store.turns.Take(ctx, w.digest)
	if err != nil {
		return err
	}
	defer give()
	if there, err := src.Store.has(w.digest); err != nil {
		return err
	} else if there {
		return src.Store.touch(w.digest, src.Clock.Now())
	}
	return src.retry(ctx, func() (bool, error) {
		got, err := src.Store.pull(ctx, w, from, func(done int64) { src.report(done, w.size) })
		return got > 0, err
	})
}

func (src Source) report(done, total int64) {
	if src.Progress != nil {
		src.Progress(Progress{What: "download", Name: Redact(src.Image), Done: done, Total: total})
	}
}

// retry tries until it works, the fault is no passing one or the bounds are
// reached. try says whether it got on.
func (src Source) retry(ctx context.Context, try func() (bool, error)) error {
	idle, wait := 0, firstWait
	for tries := 1; ; tries++ {
		moved, err := try()
		if err == nil || !Passing(err) || ctx.Err() != nil {
			return src.advise(err)
		}
		if idle++; moved {
			idle, wait = 0, firstWait
		}
		if idle >= idleTries || tries >= maxTries {
			return fmt.Errorf("%w (after %d tries)", err, tries)
		}
		delay := pause(err, wait)
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(src.Clock.Now().Add(delay)) {
			return fmt.Errorf("%w (after %d tries; the next one, in %s, is later than the step's timeout)", err, tries, delay.Round(time.Second))
		}
		src.Again.tell(err, tries, delay)
		if serr := src.Clock.Sleep(ctx, delay); serr != nil {
			return errors.Join(err, serr)
		}
		wait = min(2*wait, longWait)
	}
}

// Again is told of a try that failed and is made again after a wait.
type Again func(Failed)

// Failed is a try that is made again. The text of the error is as that of the
// download: it holds the server's name and never a query or a header.
type Failed struct {
	Err  error
	Try  int // 1 for the first
	Wait time.Duration
}

// String says what failed, how often, and when it is tried again.
func (f Failed) String() string {
	return fmt.Sprintf("%v; attempt %d, again in %s", f.Err, f.Try, f.Wait.Round(time.Second))
}

func (a Again) tell(err error, try int, wait time.Duration) {
	if a != nil {
		a(Failed{err, try, wait})
	}
}

// pause is how long to wait: what the server asks for, else wait; and up to a
// quarter more, so that many hosts do not come back together.
func pause(err error, wait time.Duration) time.Duration {
	if e, ok := errors.AsType[*statusError](err); ok && e.after > wait {
		wait = min(e.after, maxAfter)
	}
	return wait + rand.N(wait/4+1)
}
