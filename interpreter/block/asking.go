package block

import "context"

// Asking is a Step whose Check cannot tell on a running host whether there is
// anything to do, because that is a question to a program. It is asked at the
// step's place in the order, before anything is claimed or noted.
type Asking interface {
	// Ask runs what the question needs, which changes nothing, and returns
	// the change needed: as Check, but known where it can be.
	Ask(ctx context.Context, in Do) (Change, error)
}
