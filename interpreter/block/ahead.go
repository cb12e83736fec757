package block

import "context"

// Ahead is a Step whose Apply needs bytes from the network that can be fetched
// before its turn, while earlier steps run.
type Ahead interface {
	// Ahead returns what fetches them into in.Cache, nil when none will be
	// needed. It only looks. View and Host are empty where the machine that
	// the step stands in is not there yet. What it returns runs at the same
	// time as other steps and writes nothing but the cache, in turns of in.Turns;
	// its error is no fault of the run: Apply fetches what is missing.
	Ahead(ctx context.Context, in Do) (fetch func(context.Context) error, err error)
}
