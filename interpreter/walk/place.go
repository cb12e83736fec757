package walk

import (
	"context"
	"fmt"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
)

// scope is a place steps stand in: the host, or one part of a machine.
type scope struct{ machine, part string }

func scopeOf(p *block.Placed) scope { return scope{p.Machine, p.Part} }

// place is the step's host, with what it may look at and do.
func (w *walker) place(ctx context.Context, p *block.Placed) (block.Do, error) {
	h, err := w.hostOf(ctx, scopeOf(p))
	if err != nil {
		return block.Do{}, err
	}
	return w.at(p, h), nil
}

// at is what a step on a host may look at and do.
func (w *walker) at(p *block.Placed, h host.Host) block.Do {
	outer := w.outer()
	look := block.Look{
		View: h.View(), Outer: outer.View(), Debts: w.debtsOf(p), Keyed: w.Keyed, OwnUnit: w.OwnUnit, Slots: w.slots,
		Installed: string(w.Record.Phase), Cache: record.CacheDir, Replaces: w.Replaces[p.Address],
	}
	if built, ok := w.Record.Machines[p.Address]; ok {
		look.Built = &built
	}
	return block.Do{
		Look: look, Host: h, OuterHost: outer, Keep: w.Store.Backups(), Cache: record.CacheDir, Turns: &w.turns,
		Program:  w.Program,
		Progress: func(pr block.Progress) { w.progress(p, pr) },
		Warn:     func(warning block.Warning) { w.warn(p, warning) },
		Build:    func(ctx context.Context, b block.Built) error { return w.build(ctx, p, b) },

		AfterStop: w.afterStop,
	}
}

// build notes what a machine was built from, under the address of its step.
func (w *walker) build(ctx context.Context, p *block.Placed, b block.Built) error {
	if w.Build != nil {
		return w.Build(ctx, p.Address, b)
	}
	if w.Record.Machines == nil {
		w.Record.Machines = map[string]block.Built{}
	}
	w.Record.Machines[p.Address] = b
	return w.Store.Save(ctx, w.Record)
}

// outer is the host itself, with its reloads batched.
func (w *walker) outer() host.Host {
	h := w.Host
	h.Units = &batched{Units: w.Host.Units, walker: w}
	return h
}

// hostOf is the host a scope stands for. A machine is asked for once per part,
// when its first step is due: between parts it may have started.
func (w *walker) hostOf(ctx context.Context, s scope) (host.Host, error) {
	if s.machine == "" {
		return w.outer(), nil
	}
	if h, ok := w.hosts[s]; ok {
		return h, nil
	}
	h, err := w.hostNow(ctx, s.machine)
	if err != nil {
		return host.Host{}, err
	}
	w.hosts[s] = h
	return h, nil
}

// hostNow is the host or the inside of a machine as it is at this moment.
func (w *walker) hostNow(ctx context.Context, machine string) (host.Host, error) {
	if machine == "" {
		return w.outer(), nil
	}
	h, err := w.Host.Machines.Host(ctx, machine)
	if err != nil {
		return host.Host{}, fmt.Errorf("machine %s: %w", machine, err)
	}
	h.Units = &batched{Units: h.Units, walker: w, machine: machine}
	return h, nil
}
