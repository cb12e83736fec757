package resident

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// onSchedule is the cause of a look that no change was reported for.
const onSchedule = "on schedule"

// wait waits until the host is to be looked at: after the longest time, or when
// something that is owned has changed and come to rest. The error is ctx's.
func (w *watching) wait(ctx context.Context, longest time.Duration) (cause string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.watch() {
		longest = min(longest, w.First) // for what changed while it was watched anew
	}
	due := w.after(ctx, longest)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-due:
		return onSchedule, ctx.Err()
	case what, ok := <-w.events:
		if !ok {
			w.events, what = nil, "what is watched" // it is looked at, and watched anew
		}
		return what + " changed", w.settle(ctx, due)
	}
}

// settle waits until nothing has changed for a while and the last look is long
// enough ago.
func (w *watching) settle(ctx context.Context, due <-chan struct{}) error {
	if err := w.pause(ctx, due); err != nil {
		return err
	}
	for {
		quiet := w.after(ctx, w.Quiet)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case <-quiet:
			return nil
		case _, ok := <-w.events:
			if !ok {
				w.events = nil
			}
		}
	}
}

// pause keeps looks for changes apart.
func (w *watching) pause(ctx context.Context, due <-chan struct{}) error {
	since := w.Interpreter.Host.Clock.Monotonic() - w.state.lookedAt
	if w.state.lookedAt == 0 || since >= w.gap {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-due:
	case <-w.after(ctx, w.gap-since):
	}
	return nil
}

// after is closed when the time has come.
func (w *watching) after(ctx context.Context, d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		if w.Interpreter.Host.Clock.Sleep(ctx, d) == nil {
			close(done)
		}
	}()
	return done
}

// watch sees to it that changes of what is owned are reported. What cannot be
// watched is looked at on schedule only, and that is said once. The watch lasts
// from look to look, so that nothing goes unseen in between, until something
// else is owned or a machine runs anew: again says that it was replaced then.
func (w *watching) watch() (again bool) {
	if w.Watch == nil {
		return false
	}
	ctx, cancel := context.WithCancel(w.life)
	owned, err := w.Interpreter.Watched(ctx)
	if w.events != nil && (err != nil || reflect.DeepEqual(owned, w.owned)) {
		cancel()
		return false
	}
	again = w.events != nil
	w.unwatch()
	w.unwatch, w.events, w.owned = cancel, nil, owned
	if err == nil {
		w.events, err = w.Watch(ctx, owned)
	}
	if err != nil && !w.state.blind && ctx.Err() == nil {
		w.Say(Note{Warning: true, Text: fmt.Sprintf("changes are found on schedule only, every %s: %v", w.Every, err)})
	}
	w.state.blind = err != nil
	w.state.Paths, w.state.Units = len(owned.Paths), len(owned.Units)
	for _, m := range owned.Machines {
		w.state.Paths, w.state.Units = w.state.Paths+len(m.Paths), w.state.Units+len(m.Units)
	}
	return again
}
