package rehearse

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/rehearse/laws"
)

// eventBlock is something that happens to the host between runs.
type eventBlock struct {
	Path     string `hcl:"path,optional"`
	Content  string `hcl:"content,optional"`
	Mode     string `hcl:"mode,optional"`
	Unit     string `hcl:"unit,optional"`
	Machine  string `hcl:"machine,optional"`
	Stale    bool   `hcl:"stale,optional"`
	Duration string `hcl:"duration,optional"`
	Kept     bool   `hcl:"kept,optional"`

	do func(context.Context, *laws.Rig) error
}

// eventKinds are what can happen, with the argument that each needs.
func eventKinds() map[string]string {
	return map[string]string{
		"write": "path", "remove": "path", "chmod": "path", "start": "unit", "stop": "unit", "kill_machine": "machine",
		"wait": "duration", "reboot": "", "crash": "", "power_loss": "",
	}
}

func (r *reading) event(b *hclsyntax.Block) *eventBlock {
	kinds := eventKinds()
	names := slices.Sorted(maps.Keys(kinds))
	if len(b.Labels) != 1 || !slices.Contains(names, b.Labels[0]) {
		r.add(b.DefRange(), "Unknown event", "An event names what happens: %s.", quoted(names))
		return nil
	}
	kind, e := b.Labels[0], &eventBlock{}
	diags := gohcl.DecodeBody(b.Body, r.ctx, e)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	if need := kinds[kind]; need != "" && b.Body.Attributes[need] == nil {
		r.add(b.DefRange(), "Incomplete event", "The event %q needs %s = … .", kind, need)
		return nil
	}
	do, err := e.happening(kind)
	if err != nil {
		r.add(b.DefRange(), "Event not possible", "%v.", err)
		return nil
	}
	e.do = do
	return e
}

// happening is what an event does.
func (e *eventBlock) happening(kind string) (func(context.Context, *laws.Rig) error, error) {
	if e.Path != "" {
		if err := block.CheckPath(e.Path); err != nil {
			return nil, err
		}
		return e.onFile(kind)
	}
	switch kind {
	case "start", "stop":
		return func(ctx context.Context, r *laws.Rig) error {
			return r.Host().Units.Run(ctx, host.JobVerb(kind), e.Unit)
		}, nil
	case "kill_machine":
		return func(_ context.Context, r *laws.Rig) error { r.KillMachine(e.Machine, e.Stale); return nil }, nil
	case "wait":
		d, err := block.ParseDuration(e.Duration)
		return func(_ context.Context, r *laws.Rig) error { r.Advance(d); return nil }, err
	case "reboot":
		return func(_ context.Context, r *laws.Rig) error { r.Reboot(); return nil }, nil
	case "crash":
		return func(_ context.Context, r *laws.Rig) error { r.Crash(); return nil }, nil
	}
	choose := memory.LoseMost
	if e.Kept {
		choose = memory.KeepMost
	}
	return func(_ context.Context, r *laws.Rig) error { r.PowerLoss(choose); return nil }, nil
}

func (e *eventBlock) onFile(kind string) (func(context.Context, *laws.Rig) error, error) {
	mode := uint32(0o644)
	if e.Mode != "" {
		var err error
		if mode, err = block.ParseMode(e.Mode); err != nil {
			return nil, fmt.Errorf("mode: %w", err)
		}
	}
	switch kind {
	case "write":
		return func(_ context.Context, r *laws.Rig) error {
			f := r.Host().Files
			if err := host.MakeParents(f, e.Path, 0o755); err != nil {
				return err
			}
			return host.Replace(f, e.Path, host.Content{Bytes: []byte(e.Content), Mode: mode})
		}, nil
	case "chmod":
		return func(_ context.Context, r *laws.Rig) error { return r.Host().Files.Chmod(e.Path, host.FileMode(mode)) }, nil
	case "remove":
		return func(_ context.Context, r *laws.Rig) error { return r.Host().Files.RemoveAll(e.Path) }, nil
	}
	return nil, fmt.Errorf("the event %q has no path", kind)
}
