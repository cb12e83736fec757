package resident

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// StoodDown is the exit status of a daemon that does nothing because an
// installation is not finished.
const StoodDown = 69

// The times of the daemon.
const (
	// LockWait is how long a lock is waited for: whoever starts the daemon may
	// still hold it.
	LockWait = 30 * time.Second
	// Every is how often the host is looked at when nothing seems to happen.
	Every = 10 * time.Minute
	// First is when it is looked at after the start: a boot that is still under
	// way is left to come up.
	First = time.Minute
	// Quiet is how long nothing may have happened before a change is looked
	// at.
	Quiet = 2 * time.Second
	// MinGap and MaxGap bound the time between two looks for changes: things
	// that change all the time and are found as wanted are looked at less and
	// less often.
	MinGap, MaxGap = 10 * time.Second, Every
	// Budget is how often a step is repaired within an hour.
	Budget = 5
)

// Daemon keeps a complete installation as it is.
type Daemon struct {
	Interpreter *interpreter.Interpreter
	// Watch reports changes of what is owned, until ctx ends or nothing can be
	// watched any more, when it closes the channel; nil: only the clock tells.
	Watch func(ctx context.Context, w interpreter.Watched) (<-chan string, error)
	// Rest gives back what is not needed until the next look; nil: nothing is.
	Rest func() error
	// Version is what the status file says of the program.
	Version string
	// Alive is how often Notify tells the watchdog that the daemon lives; 0:
	// never.
	Alive time.Duration
	// Notify sends states of sd_notify(3); nil: to nobody.
	Notify func(state string)
	// Say tells what is worth a line; nil: nobody.
	Say func(Note)
	// Every, First and Quiet are the times of the same names, 0 for those.
	Every, First, Quiet time.Duration
}

// Note is one thing that the daemon says.
type Note struct {
	// Warning says that somebody should look at it.
	Warning bool
	Text    string
}

// StandDownError is a daemon that does nothing because an installation is not
// finished. It is no failure.
type StandDownError struct{ Phase string }

func (e *StandDownError) Error() string {
	return fmt.Sprintf("the installation is %s, not complete: the daemon stands down until it is finished (hostler ensure)", e.Phase)
}

// watching is a daemon on its way.
type watching struct {
	Daemon
	state  state
	budget budget
	// gap is the time from one look for changes to the next.
	gap time.Duration
	// events are changes of what is owned, as it was listed then; unwatch ends
	// them.
	events <-chan string
	owned  interpreter.Watched
	// life is that of the daemon.
	life    context.Context
	unwatch context.CancelFunc
	// warned are the warnings of the last look.
	warned map[walk.Warned]bool
	// looking is when the look at hand began, in nanoseconds on the clock's
	// monotonic axis; 0: none is.
	looking atomic.Int64
}

// errDone says that there is nothing to keep any more.
var errDone = errors.New("nothing is installed any more")

// Run runs until ctx ends, which is no error. A host whose installation is not
// complete is a *StandDownError; a reset that was begun is finished first, and
// then the daemon has nothing to do any more.
func (d Daemon) Run(ctx context.Context) error {
	d.defaults()
	w := &watching{Daemon: d, gap: MinGap, life: ctx, unwatch: func() {}}
	defer func() { w.unwatch() }()
	w.Notify("READY=1")
	w.load()
	beating, stop := context.WithCancel(ctx)
	defer stop()
	go w.beat(beating)
	err := w.begin(ctx)
	if err == nil {
		err = w.keep(ctx)
	}
	w.Notify("STOPPING=1")
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		w.saveState("stopped")
		return nil
	}
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

func (d *Daemon) defaults() {
	set := func(t *time.Duration, to time.Duration) {
		if *t == 0 {
			*t = to
		}
	}
	set(&d.Every, Every)
	set(&d.First, First)
	set(&d.Quiet, Quiet)
	if d.Notify == nil {
		d.Notify = func(string) {}
	}
	if d.Say == nil {
		d.Say = func(Note) {}
	}
}

// begin waits for the lock and finds out what there is to do.
func (w *watching) begin(ctx context.Context) error {
	w.saveState("waiting")
	w.Notify("STATUS=waiting for the installation lock")
	var found interpreter.Installation
	err := w.Interpreter.Hold(ctx, LockWait, func(i interpreter.Installation) error {
		found = i
		return nil
	})
	if _, held := errors.AsType[*host.HeldError](err); held {
		now, serr := w.Interpreter.Standing(ctx)
		switch {
		case serr == nil && now.Phase == string(record.Installing):
			// The run that holds it starts the daemon when it has completed
			// the installation.
			return w.standDown(now.Phase)
		case serr == nil && now.Phase == string(record.Complete):
			// A run that takes its time, a repave say: to end here again and
			// again would count as crashing, and take an upgrade back.
			return nil
		}
	}
	if err != nil {
		return err
	}
	switch found.Phase {
	case string(record.Complete):
		return nil
	case string(record.Resetting):
		return w.finishReset(ctx)
	case "unreadable":
		return &record.RefusedError{Reason: "who owns this host cannot be told: " + found.Err.Error(), Advice: "the daemon does nothing"}
	}
	return w.standDown(found.Phase)
}

func (w *watching) standDown(phase string) error {
	w.saveState("stood down")
	w.Notify("STATUS=stood down: the installation is " + phase)
	return &StandDownError{phase}
}

// finishReset goes on with a reset that was begun. Its last act stops the unit
// that we run in.
func (w *watching) finishReset(ctx context.Context) error {
	w.Say(Note{Text: "a reset was begun: it is finished"})
	w.Notify("STATUS=finishing a reset")
	if _, err := w.Interpreter.Reset(ctx, interpreter.Request{Wait: LockWait}); err != nil {
		return err
	}
	return errDone
}

// keep looks at the host until ctx ends.
func (w *watching) keep(ctx context.Context) error {
	wait := w.First
	for {
		w.rest(wait)
		cause, err := w.wait(ctx, wait)
		if err != nil {
			return err
		}
		if wait, err = w.look(ctx, cause); err != nil {
			return err
		}
	}
}

// look verifies and repairs, and says when to look again at the latest: soon
// where another run held the lock, and after a repair, because what changed
// meanwhile went unseen.
func (w *watching) look(ctx context.Context, cause string) (again time.Duration, err error) {
	w.looking.Store(max(1, int64(w.Interpreter.Host.Clock.Monotonic())))
	defer func() {
		w.looking.Store(0)
		debug.FreeOSMemory() // nothing of it is needed until the next look
		if w.Rest != nil {
			_ = w.Rest() // it only costs memory
		}
	}()
	w.saveState("verifying")
	w.Notify("STATUS=verifying: " + cause)
	out, err := w.ensure(ctx)
	_, held := errors.AsType[*host.HeldError](err)
	unfinished, left := errors.AsType[*interpreter.UnfinishedError](err)
	_, refused := errors.AsType[*record.RefusedError](err)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case held:
		return min(w.Every, time.Minute), nil
	case left && unfinished.Phase == string(record.Resetting):
		return 0, w.finishReset(ctx)
	case left:
		return 0, w.standDown(unfinished.Phase)
	case refused:
		return 0, err
	}
	w.pace(cause, out)
	w.tell(cause, out, err)
	return nextLook(w.Every, out, w.Interpreter.Host.Clock.Now()), nil
}

// nextLook is when to look again after a look: soon after a repair, and when a
// repave goes back unless it is confirmed.
func nextLook(every time.Duration, out interpreter.Outcome, now time.Time) time.Duration {
	if out.Changed > 0 {
		every = min(every, MinGap)
	}
	if !out.ConfirmUntil.IsZero() {
		every = min(every, max(out.ConfirmUntil.Sub(now), time.Second))
	}
	return every
}

func (w *watching) ensure(ctx context.Context) (interpreter.Outcome, error) {
	now := w.Interpreter.Host.Clock.Now()
	in := *w.Interpreter
	emit := in.Emit
	warned := map[walk.Warned]bool{}
	in.Emit = func(e walk.Event) {
		if e.Kind == walk.StepFinished && e.Change.Needed() {
			w.budget.spend(e.Address, now)
		}
		if e.Kind == walk.Diagnosed {
			warned[e.Warned()] = true
			if w.warned[e.Warned()] {
				return // it was said after the last look
			}
		}
		if emit != nil {
			emit(e)
		}
	}
	w.budget.begin(now)
	out, err := in.Ensure(ctx, interpreter.Request{Wait: LockWait, Resident: true, Leave: w.budget.leave})
	w.warned = warned
	return out, err
}

// maxLook is how long a look may take before the watchdog is not fed any more.
const maxLook = time.Hour

// beat feeds the watchdog.
func (w *watching) beat(ctx context.Context) {
	for w.Alive > 0 && ctx.Err() == nil {
		began := time.Duration(w.looking.Load())
		if began == 0 || w.Interpreter.Host.Clock.Monotonic()-began < maxLook {
			w.Notify("WATCHDOG=1")
		}
		if w.Interpreter.Host.Clock.Sleep(ctx, w.Alive) != nil {
			return
		}
	}
}

// pace makes the daemon slower where changes turn out to be none, and as quick
// as it can be where they are.
func (w *watching) pace(cause string, out interpreter.Outcome) {
	switch {
	case out.Changed > 0 || cause == onSchedule:
		w.gap = MinGap
	default:
		w.gap = min(2*w.gap, MaxGap)
	}
	if out.Changed > 0 {
		w.unwatch() // what we changed ourselves is no change to look at
		w.events = nil
	}
}

// tell says what a look came to, when that is worth a line.
func (w *watching) tell(cause string, out interpreter.Outcome, err error) {
	w.state.looked(w.Interpreter.Host.Clock.Now(), cause, out, err)
	switch {
	case err != nil:
		w.Say(Note{Warning: true, Text: "the host is not as its recipe says (" + cause + "): " + err.Error()})
	case out.Changed > 0:
		w.Say(Note{Text: fmt.Sprintf("repaired: %d (%s)", out.Changed, cause)})
	}
	for _, address := range w.budget.newlyHeld() {
		w.Say(Note{Warning: true, Text: fmt.Sprintf("%s was repaired %d times within an hour and is left as it is now; find out what changes it", address, Budget)})
	}
}
