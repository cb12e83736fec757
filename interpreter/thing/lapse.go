package thing

import (
	"context"
	"errors"

	"hostler/interpreter/host"
)

// Lapsing is a thing that may not be able to be what it was before us, because
// what it needs for that is gone from the host. It is no fault of a reset then.
type Lapsing interface {
	// Lapsed says why the origin cannot come back, "" if it can.
	Lapsed(ctx context.Context, v host.View, o Origin) (why string, err error)
}

// Lapsed says that a unit which ran before us does not exist any more: it was
// transient, or what brought it was removed.
func (u UnitActive) Lapsed(ctx context.Context, v host.View, o Origin) (why string, err error) {
	if o.Kind != OriginSaved || o.State == nil || o.State.Value != Active {
		return "", nil
	}
	state, err := v.Units.Unit(ctx, string(u))
	switch {
	case errors.Is(err, host.ErrNoManager):
		return "", nil
	case err != nil || state.LoadState != "not-found" || state.Running():
		return "", err
	}
	return string(u) + " ran before, and there is no such unit any more", nil
}
