package host

import (
	"context"
	"slices"
	"sync"
	"time"
)

// AskOnce returns h with an inventory of machines that is asked for once and
// then remembered, until something happens that may change it: a job, a
// termination, a program that is run, or time that is slept through. What must
// not rest on a remembered answer calls AskAgain first. An inventory that fails
// is asked for again.
func AskOnce(h Host) Host {
	known := &inventory{}
	h.Machines = &askedMachines{h.Machines, known}
	h.Units = &askedUnits{h.Units, known}
	h.Commands = &askedCommands{h.Commands, known}
	h.Clock = &askedClock{h.Clock, known}
	return h
}

// AskAgain makes the next inventory a fresh one.
func AskAgain(v MachineView) {
	if m, ok := v.(*askedMachines); ok {
		m.known.forget()
	}
}

// inventory is what machined answered, nil while it was not asked.
type inventory struct {
	mu  sync.Mutex
	all []MachineState
}

func (k *inventory) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

func (k *inventory) ask(ctx context.Context, m MachineView) ([]MachineState, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		all, err := m.Registered(ctx)
		if err != nil {
			return nil, err
		}
		k.all = append([]MachineState{}, all...) // never nil: none is an answer, too
	}
	return slices.Clone(k.all), nil
}

type askedMachines struct {
	Machines
	known *inventory
}

// Registered asks once.
func (m *askedMachines) Registered(ctx context.Context) ([]MachineState, error) {
	return m.known.ask(ctx, m.Machines)
}

func (m *askedMachines) Terminate(ctx context.Context, name string) error {
	defer m.known.forget()
	return m.Machines.Terminate(ctx, name)
}

type askedUnits struct {
	Units
	known *inventory
}

func (u *askedUnits) Run(ctx context.Context, verb JobVerb, name string) error {
	defer u.known.forget()
	return u.Units.Run(ctx, verb, name)
}

func (u *askedUnits) Queue(ctx context.Context, verb JobVerb, name string) error {
	defer u.known.forget()
	return u.Units.Queue(ctx, verb, name)
}

type askedCommands struct {
	Commands
	known *inventory
}

func (c *askedCommands) Run(ctx context.Context, command Command) (CommandResult, error) {
	defer c.known.forget()
	return c.Commands.Run(ctx, command)
}

type askedClock struct {
	Clock
	known *inventory
}

func (c *askedClock) Sleep(ctx context.Context, d time.Duration) error {
	defer c.known.forget()
	return c.Clock.Sleep(ctx, d)
}
