package shadow

import (
	"slices"
	"sync"
)

// Effect is something that was done to a shadow.
type Effect struct {
	// Kind is "write", "mkdir", "remove", "rename", "symlink", "chmod", …,
	// "unknown" for files; "reload" and the verbs of jobs for units;
	// "terminate", "sysctl", "load-module", "swap-off", "unmount", "run",
	// "lock", ….
	Kind string
	// Name is the path, unit, machine, key or program it was done to; inside a
	// machine it starts with "machine:NAME/".
	Name string
}

// journal collects the effects, of the host and of its machines.
type journal struct {
	prefix string
	list   *effects
}

type effects struct {
	mu  sync.Mutex
	all []Effect
}

func (j *journal) note(kind, name string) {
	j.list.mu.Lock()
	defer j.list.mu.Unlock()
	j.list.all = append(j.list.all, Effect{kind, j.prefix + name})
}

// inside is the journal of a machine.
func (j *journal) inside(machine string) *journal {
	return &journal{prefix: j.prefix + "machine:" + machine + "/", list: j.list}
}

func (e *effects) snapshot() []Effect {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}
