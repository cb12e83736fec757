package interpreter

import (
	"context"
	"errors"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
)

// Installation is what the record says of a host.
type Installation struct {
	Identity
	// Phase is "absent", "installing", "complete", "resetting" or
	// "unreadable", which Err then explains.
	Phase string
	Err   error
}

// Standing reads what is installed, without the lock: whoever acts on it takes
// it as a hint. The error is that of reading the host.
func (in *Interpreter) Standing(ctx context.Context) (Installation, error) {
	r := &run{Interpreter: in, host: in.Host, store: record.NewStore(in.Host, in.Rand)}
	r.rec, r.loadErr = r.store.Head(ctx)
	r.known()
	i := Installation{Phase: "absent", Identity: r.seen}
	_, unreadable := errors.AsType[*record.UnreadableError](r.loadErr)
	switch {
	case r.rec != nil:
		i.Phase = string(r.rec.Phase)
	case errors.Is(r.loadErr, record.ErrAbsent):
	case unreadable || isNewer(r.loadErr):
		i.Phase, i.Err = "unreadable", r.loadErr
	default:
		return i, r.loadErr
	}
	return i, nil
}

// Hold takes the installation lock, waiting for it that long, and tells fn what
// is installed.
func (in *Interpreter) Hold(ctx context.Context, wait time.Duration, fn func(Installation) error) error {
	release, err := in.lock(ctx, wait)
	if err != nil {
		return err
	}
	i, err := in.Standing(ctx)
	if err == nil {
		err = fn(i)
	}
	return errors.Join(err, release())
}

func isNewer(err error) bool {
	_, newer := errors.AsType[*block.NewerError](err)
	return newer
}
