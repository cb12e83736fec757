package fault

import (
	"context"

	"hostler/interpreter/host"
)

// Wrap returns h with its effects counted and gone wrong as plan says, those
// inside its machines too. The file door offers host.Special if h's does, and
// never host.RealDir.
func Wrap(h host.Host, plan *Plan) host.Host {
	w := wrapper{plan, h.Identity.Machine}
	h.Files = w.files(h.Files)
	h.Units = units{h.Units, w}
	h.Machines = machines{h.Machines, w}
	h.Kernel = kernel{h.Kernel, w}
	h.Network = network{h.Network, w}
	h.Commands = commands{h.Commands, w}
	h.Locks = locks{h.Locks, w}
	return h
}

// wrapper is what all wrapped doors share.
type wrapper struct {
	plan    *Plan
	machine string
}

func (w wrapper) run(kind, name string, do func() error) error {
	return w.plan.run(kind, name, w.machine, do)
}

type units struct {
	host.Units
	w wrapper
}

func (u units) Reload(ctx context.Context) error {
	return u.w.run("reload", "manager", func() error { return u.Units.Reload(ctx) })
}

func (u units) Run(ctx context.Context, verb host.JobVerb, name string) error {
	return u.w.run("unit "+string(verb), name, func() error { return u.Units.Run(ctx, verb, name) })
}

func (u units) Queue(ctx context.Context, verb host.JobVerb, name string) error {
	return u.w.run("queue "+string(verb), name, func() error { return u.Units.Queue(ctx, verb, name) })
}

func (u units) ResetFailed(ctx context.Context, name string) error {
	return u.w.run("reset-failed", name, func() error { return u.Units.ResetFailed(ctx, name) })
}

type machines struct {
	host.Machines
	w wrapper
}

func (m machines) Host(ctx context.Context, name string) (host.Host, error) {
	h, err := m.Machines.Host(ctx, name)
	if err != nil {
		return h, err
	}
	return Wrap(h, m.w.plan), nil
}

func (m machines) View(ctx context.Context, name string) (host.View, error) {
	v, err := m.Machines.View(ctx, name)
	if err == nil {
		v.Files = fileView{v.Files, wrapper{m.w.plan, name}}
	}
	return v, err
}

func (m machines) Terminate(ctx context.Context, name string) error {
	return m.w.run("terminate", name, func() error { return m.Machines.Terminate(ctx, name) })
}

type kernel struct {
	host.Kernel
	w wrapper
}

func (k kernel) SetSysctl(ctx context.Context, key, value string) error {
	return k.w.run("sysctl", key, func() error { return k.Kernel.SetSysctl(ctx, key, value) })
}

func (k kernel) LoadModule(ctx context.Context, name string) error {
	return k.w.run("load module", name, func() error { return k.Kernel.LoadModule(ctx, name) })
}

func (k kernel) SwapOff(ctx context.Context, area string) error {
	return k.w.run("swapoff", area, func() error { return k.Kernel.SwapOff(ctx, area) })
}

func (k kernel) SwapOn(ctx context.Context, area host.SwapArea) error {
	return k.w.run("swapon", area.Name, func() error { return k.Kernel.SwapOn(ctx, area) })
}

func (k kernel) Unmount(ctx context.Context, name string) error {
	return k.w.run("unmount", name, func() error { return k.Kernel.Unmount(ctx, name) })
}

type commands struct {
	host.Commands
	w wrapper
}

func (c commands) Run(ctx context.Context, cmd host.Command) (r host.CommandResult, err error) {
	name := ""
	if len(cmd.Argv) > 0 {
		name = cmd.Argv[0]
	}
	err = c.w.run("command", name, func() error {
		r, err = c.Commands.Run(ctx, cmd)
		return err
	})
	return r, err
}

type locks struct {
	host.Locks
	w wrapper
}

// Acquire is no effect, but a dead program takes no lock.
func (l locks) Acquire(ctx context.Context, mode host.LockMode, holder host.Holder) (func() error, error) {
	if l.w.plan.Died() {
		return nil, ErrDead
	}
	return l.Locks.Acquire(ctx, mode, holder)
}
