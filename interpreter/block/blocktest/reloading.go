package blocktest

import (
	"context"

	"hostler/interpreter/host"
)

// Reloading is a unit door that reads unit files again before every question
// and job, as the walk does after files of units have changed.
func Reloading(u host.Units) host.Units { return reloading{u} }

type reloading struct{ host.Units }

// Unit asks after a reload.
func (r reloading) Unit(ctx context.Context, name string) (host.UnitState, error) {
	if err := r.Reload(ctx); err != nil {
		return host.UnitState{}, err
	}
	return r.Units.Unit(ctx, name)
}

// Run runs a job after a reload.
func (r reloading) Run(ctx context.Context, verb host.JobVerb, name string) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	return r.Units.Run(ctx, verb, name)
}

// Queue queues a job after a reload.
func (r reloading) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	return r.Units.Queue(ctx, verb, name)
}
