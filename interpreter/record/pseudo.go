package record

import (
	"context"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Key is the step's own key.
func (p pseudo) Key() thing.Key { return thing.Key(p) }

// Look finds nothing: a step is not an object of the host.
func (p pseudo) Look(context.Context, host.View) (thing.State, error) {
	return thing.State{Kind: thing.Absent}, nil
}

// PutBack does nothing.
func (p pseudo) PutBack(context.Context, host.Host, thing.Origin, thing.Keeper) error { return nil }
