package thing

import (
	"context"
	"fmt"

	"hostler/interpreter/host"
)

// Keeping is a Thing that says itself whether its original has to be held by
// the Keeper. For others [NeedsKeep] knows the rule.
type Keeping interface {
	// Keeps says so for what was found.
	Keeps(found State) bool
}

// Saver is a Thing that keeps its original in its own way, for example because
// the file does not stand at the path of its key.
type Saver interface {
	// Save keeps what is there and returns the backup's name.
	Save(ctx context.Context, h host.Host, k Keeper, key Key, found State) (backup string, err error)
}

// NeedsKeep says whether the original of t, found in that state, has to be
// held by the Keeper before t is touched: files and links do, other things are
// put back from their State alone.
func NeedsKeep(t Thing, found State) bool {
	if k, ok := t.(Keeping); ok {
		return k.Keeps(found)
	}
	return found.Kind == File || found.Kind == Link
}

// Save keeps the original of t, whose full key is key and which was found in
// that state, if that is needed. It returns the backup's name, "" when the
// State says everything. What cannot be kept is an error: it must not be
// touched.
func Save(ctx context.Context, h host.Host, k Keeper, t Thing, key Key, found State) (backup string, err error) {
	if found.Kind == Other {
		return "", fmt.Errorf("%s is a device, socket or FIFO, which cannot be kept and put back", key)
	}
	if !NeedsKeep(t, found) {
		return "", nil
	}
	if s, ok := t.(Saver); ok {
		return s.Save(ctx, h, k, key, found)
	}
	return k.Keep(ctx, h, key, key.Name(), found)
}
