package interpreter

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// deliveredName is the type of the step that every recipe has by itself on a
// host that was delivered to.
const deliveredName = "delivered"

// deliveredType is a step that owns what a first boot was delivered with and no
// step of the recipe owns. It changes nothing; a reset removes it all.
func deliveredType() *block.Type {
	return &block.Type{
		Name: deliveredName, Version: 1, HostOnly: true,
		Schema: block.Schema{Attrs: []block.Attr{block.Texts("paths").Must().Names()}},
		New: func(args block.Args) (block.Step, hcl.Diagnostics) {
			var d deliveredStep
			for _, e := range args.Value.GetAttr("paths").AsValueSlice() {
				if !e.IsNull() && e.Type() == cty.String {
					d = append(d, e.AsString())
				}
			}
			return d, nil
		},
	}
}

// deliveredStep lists files.
type deliveredStep []string

// Owns names the files, and the unit where the boot unit is among them.
func (d deliveredStep) Owns() (owned []thing.Owned) {
	own := func(t thing.Thing) {
		owned = append(owned, thing.Owned{Thing: t, Foreign: true, Delivered: true})
	}
	for _, name := range d {
		own(thing.Path(name))
		if name == delivery.UnitPath(delivery.BootUnit) {
			own(thing.UnitEnabled{Unit: delivery.BootUnit})
			own(thing.UnitActive(delivery.BootUnit))
		}
	}
	return owned
}

// Check finds nothing to do.
func (deliveredStep) Check(context.Context, block.Look) (block.Change, error) {
	return block.NoChange(), nil
}

// Apply does nothing.
func (deliveredStep) Apply(context.Context, block.Do) error { return nil }

// Reset removes one file, or stops or disables the boot unit.
func (deliveredStep) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if err := t.PutBack(ctx, do.Host, o, do.Keep); err != nil {
		return fmt.Errorf("%s: %w", t.Key(), err)
	}
	return nil
}

// vocabulary is that of recipes, and what the interpreter itself adds.
func (in *Interpreter) vocabulary() block.Vocabulary {
	v := in.Vocabulary
	v.Types = append(slices.Clip(v.Types), deliveredType())
	return v
}

// withDelivered puts the step of what was delivered before the steps of a
// recipe, where there is something that they do not own.
func (r *run) withDelivered(steps []block.Placed) ([]block.Placed, error) {
	paths, err := r.delivered(steps)
	if err != nil || len(paths) == 0 {
		return steps, err
	}
	data, err := json.Marshal(map[string][]string{"paths": paths})
	if err != nil {
		return nil, err
	}
	p := block.Placed{Address: deliveredName, Label: deliveredName, Type: deliveredType(), Step: deliveredStep(paths), Data: data}
	return append([]block.Placed{p}, steps...), nil
}

// delivered lists what was delivered: what is there, or was when it was
// claimed, and belongs to no step.
func (r *run) delivered(steps []block.Placed) (paths []string, err error) {
	claimed := map[thing.Key]bool{}
	for _, want := range record.WantedOf(steps) {
		claimed[want.Key] = true
	}
	for _, c := range r.rec.Claims {
		if c.Step == nil || c.Step.Type != deliveredName {
			claimed[c.Thing] = true
		} else if c.Thing.Kind() == "path" && !claimed[c.Thing] {
			paths = append(paths, c.Thing.Name())
		}
	}
	for _, name := range delivery.Delivered(r.installPrefix()) {
		if paths, err = files(r.host.Files, name, paths); err != nil {
			return nil, err
		}
	}
	paths = slices.DeleteFunc(paths, func(name string) bool { return claimed[thing.Path(name).Key()] })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// files adds the files and links at and below a path. Directories are not
// among them.
func files(f host.FileView, name string, all []string) ([]string, error) {
	info, err := host.Lstat(f, name)
	if host.Absent(err) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for what was delivered: %w", err)
	}
	if !info.IsDir() {
		return append(all, name), nil
	}
	names, err := host.Names(f, name)
	if err != nil {
		return nil, fmt.Errorf("look for what was delivered: %w", err)
	}
	for _, base := range names {
		if all, err = files(f, path.Join(name, base), all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// claimDelivered claims the directories that hold what was delivered.
func (r *run) claimDelivered(steps []block.Placed) error {
	for _, p := range steps {
		d, ok := p.Step.(deliveredStep)
		if !ok {
			continue
		}
		for _, name := range d {
			for _, dir := range record.Parents(name) {
				if dir == delivery.Dir || strings.HasPrefix(dir, delivery.Dir+"/") {
					r.rec.ClaimDir(thing.Key("dir:" + dir))
				}
			}
		}
	}
	return r.claimProgramDirs()
}

// claimProgramDirs claims the directories that a program was delivered into,
// but for those that systems bring.
func (r *run) claimProgramDirs() error {
	prefix := r.installPrefix()
	program := delivery.Program(prefix)
	there, err := exists(r.host.Files, program)
	if c := r.rec.Claim(thing.Path(program).Key()); err != nil || !there || c == nil || c.Origin.Kind != "" {
		return err
	}
	for _, dir := range []string{prefix, delivery.Bin(prefix)} {
		if !standing(dir) {
			r.rec.ClaimDir(thing.Key("dir:" + dir))
		}
	}
	return nil
}

// mayBeDelivered says whether a thing is among what a first boot may have been
// delivered with.
func (r *run) mayBeDelivered(key thing.Key) bool {
	machine, _ := key.Machine()
	return machine == "" && key.Kind() == "path" && slices.ContainsFunc(delivery.Delivered(r.installPrefix()), func(name string) bool {
		return key.Name() == name || strings.HasPrefix(key.Name(), name+"/")
	})
}

// startDaemon starts the daemon of an installation that this run completed. It
// comes after the lock was let go: the daemon waits for that.
func (r *run) startDaemon(ctx context.Context) error {
	if !r.completed || r.OwnUnit == delivery.DaemonUnit || r.rec.Claim(thing.UnitActive(delivery.DaemonUnit).Key()) == nil {
		return nil
	}
	u, err := r.host.Units.Unit(ctx, delivery.DaemonUnit)
	if err == nil && !u.Running() {
		_, err = thing.StartOrQueue(ctx, r.host, delivery.DaemonUnit, r.OwnUnit)
	}
	if err != nil {
		r.out.Word = "failed"
		return fmt.Errorf("the installation is complete; its daemon does not run: %w", err)
	}
	return nil
}
