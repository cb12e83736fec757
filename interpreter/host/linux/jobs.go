package linux

import (
	"context"
	"fmt"
	"time"

	systemd "github.com/coreos/go-systemd/v22/dbus"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

// jobPoll is how often a job is looked for whose end was not signalled. A
// signal is lost when the manager executes itself again, or is on its way for
// a moment.
const jobPoll = time.Second

// jobTime bounds the wait for a job when the caller does not: oneshot units
// have no time of their own to start in, and a job may wait for one that never
// ends.
const jobTime = 15 * time.Minute

// bounded is ctx with a deadline: its own, or d from now.
func bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("it has not ended after %s and goes on without us: %w", d, context.DeadlineExceeded))
}

// Queue queues a job.
func (u units) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	_, err := u.queue(ctx, verb, name, nil)
	return err
}

// Run queues a job and waits for its result.
func (u units) Run(ctx context.Context, verb host.JobVerb, name string) error {
	ctx, end := bounded(ctx, jobTime)
	defer end()
	w := &wait{units: u, verb: verb, name: name, since: offline.Clock{}.Monotonic(), signal: make(chan string, 1)}
	id, err := u.queue(ctx, verb, name, w.signal)
	if err != nil {
		return err
	}
	w.job = uint32(id)
	result, err := w.result(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the %s of %s: %w", verb, name, err)
	}
	if result == "done" {
		return nil
	}
	return &host.JobError{Unit: name, Verb: verb, Result: result, Detail: u.detail(ctx, name, result)}
}

// queue returns the job's id. The channel, if any, gets the job's result and
// must have room for it: else it would stop the results of all others.
func (u units) queue(ctx context.Context, verb host.JobVerb, name string, result chan<- string) (int, error) {
	id, err := ask(ctx, u.manager, callTime, func(ctx context.Context, c *systemd.Conn) (int, error) {
		method, err := jobMethod(c, verb)
		if err != nil {
			return 0, err
		}
		return method(ctx, name, "replace", result)
	})
	if refusedAs(err, noSuchUnit) {
		return 0, fmt.Errorf("%s of %s: %w: %w", verb, name, host.ErrNoUnit, err)
	}
	return id, wrap(fmt.Sprintf("%s of %s", verb, name), err)
}

type queueFunc func(ctx context.Context, name, mode string, result chan<- string) (int, error)

func jobMethod(c *systemd.Conn, verb host.JobVerb) (queueFunc, error) {
	switch verb {
	case host.JobStart:
		return c.StartUnitContext, nil
	case host.JobStop:
		return c.StopUnitContext, nil
	case host.JobRestart:
		return c.RestartUnitContext, nil
	case host.JobReload:
		return c.ReloadUnitContext, nil
	case host.JobTryRestart:
		return c.TryRestartUnitContext, nil
	}
	return nil, fmt.Errorf("there is no job called %q", verb)
}

// wait waits for the end of a job.
type wait struct {
	units  units
	verb   host.JobVerb
	name   string
	job    uint32
	since  time.Duration // when it was queued, on the monotonic clock
	signal chan string
	// began says that the unit was seen to be started for the job.
	began bool
}

// result is the job's result, by signal, or else by what became of the unit
// once the job is not queued any more.
func (w *wait) result(ctx context.Context) (host.JobResult, error) {
	tick := time.NewTicker(jobPoll)
	defer tick.Stop()
	for missing := 0; ; {
		select {
		case r := <-w.signal:
			return host.JobResult(r), nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
		queued, err := w.queued(ctx)
		if err != nil {
			return "", err
		}
		if missing++; queued {
			missing = 0
			w.look(ctx)
		}
		if missing > 1 {
			return w.deduced(ctx)
		}
	}
}

func (w *wait) queued(ctx context.Context) (bool, error) {
	jobs, err := w.units.jobs(ctx)
	for _, j := range jobs {
		if j.Id == w.job {
			return true, nil
		}
	}
	return false, err
}

// look notes whether the job has begun: what was missed at its end, the manager
// may have forgotten, as it does with a unit that ended well. What cannot be
// seen now may be the next time.
func (w *wait) look(ctx context.Context) {
	if u, err := w.units.Unit(ctx, w.name); err == nil && u.InactiveExit >= w.since {
		w.began = true
	}
}

// deduced is the result of a job whose end was missed. The last signal may
// still have come.
func (w *wait) deduced(ctx context.Context) (host.JobResult, error) {
	u, err := w.units.Unit(ctx, w.name)
	if err != nil {
		return "", err
	}
	select {
	case r := <-w.signal:
		return host.JobResult(r), nil
	default:
		return deduce(w.verb, u, w.since, w.began), nil
	}
}

// deduce says how a job, queued at since, must have ended when that left the
// unit as it is now. began is set when it was seen to begin.
func deduce(verb host.JobVerb, u host.UnitState, since time.Duration, began bool) host.JobResult {
	switch {
	case verb == host.JobStop && u.Running():
		return "canceled"
	case verb == host.JobStop || u.Running():
		return "done"
	case u.ActiveState == "failed":
		return "failed"
	case verb == host.JobTryRestart && u.InactiveExit < since:
		return "done" // it did not run: there was nothing to do
	case u.ConditionChecked < since && u.InactiveExit < since && !began:
		return "canceled" // its turn never came
	case u.ConditionChecked >= since && u.ConditionResult && !u.AssertResult:
		return "assert"
	}
	return "done" // a unit that failed is not forgotten
}
