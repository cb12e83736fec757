package operate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/history"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// maxChanges bounds what is shown of one thing.
const maxChanges = 10

// Ask finds out who owns a thing of the host: "path:X", "unit:Y" or any other
// key. What starts with a slash is a path, what ends as a unit does is one.
func Ask(ctx context.Context, in *interpreter.Interpreter, asked string) (Why, error) {
	q, err := question(asked)
	if err != nil {
		return Why{}, err
	}
	h, err := in.Holdings(ctx)
	if err != nil {
		return Why{}, err
	}
	runs, _, err := history.List(in.Host.Files)
	if err != nil {
		return Why{}, err
	}
	w := &asking{Holdings: h, runs: runs, query: q}
	w.answer = Why{
		FormatVersion: "1", Asked: string(q), InstallationID: h.Identity.InstallationID, Recipe: h.Identity.Recipe,
		RecipeVersion: h.Identity.RecipeVersion, Owners: []Owner{}, Restarts: []Restart{},
	}
	w.owners()
	if q.Kind() == "unit" {
		w.restarts()
		w.now(ctx, in.Host)
	}
	w.answer.Owned = len(w.answer.Owners)+len(w.answer.Restarts) > 0
	if !w.answer.Owned {
		w.above()
	}
	return w.answer, nil
}

// UnclearError is a question about what names no thing.
type UnclearError struct{ Asked string }

func (e *UnclearError) Error() string {
	return fmt.Sprintf("%q names no thing; write path:/etc/motd, unit:containerd.service, or a thing as plan and verify show it", e.Asked)
}

// question reads what is asked about.
func question(asked string) (thing.Key, error) {
	key := thing.Key(asked)
	switch name := key.Name(); {
	case strings.HasPrefix(asked, "/"):
		key = thing.Key("path:" + path.Clean(asked))
	case key.Kind() == "path" && name != "":
		machine, _ := key.Machine()
		key = thing.Key("path:" + path.Clean(name)).On(machine)
	case key.Kind() == "unit" && name != "":
		if path.Ext(name) == "" {
			key += ".service"
		}
	case strings.HasPrefix(key.Kind(), "unit-") && name != "": // as it is, though it ends as a unit does
	case block.CheckUnitName(asked) == nil: // a colon may stand in one
		key = thing.Key("unit:" + asked)
	case name == "":
		return "", &UnclearError{asked}
	}
	return key, nil
}

// asking is one question on its way.
type asking struct {
	interpreter.Holdings
	runs   []*history.Run
	query  thing.Key
	answer Why
}

// owners are of what is asked about itself, else of the enabling that it is a
// link of; of what is in a machine's tree that too.
func (w *asking) owners() {
	found := w.those(w.meant)
	if !slices.ContainsFunc(found, func(o Owner) bool { return thing.Key(o.Thing).Kind() != "machine" }) {
		found = append(w.those(w.linked), found...)
	}
	w.answer.Owners = append(w.answer.Owners, found...)
}

func (w *asking) those(are func(thing.Key) bool) (found []Owner) {
	for _, c := range w.Claims {
		if are(c.Thing) {
			found = append(found, w.owner(c))
		}
	}
	return found
}

// linked says whether a path that is asked about is a link by which a unit is
// enabled or masked.
func (w *asking) linked(key thing.Key) bool {
	machine, inner := key.Machine()
	in, asked := w.query.Machine()
	if in == "" {
		in, asked = inTree(asked)
	}
	return asked.Kind() == "path" && inner.Kind() == "unit-enabled" && (in == "" || in == machine) &&
		path.Base(asked.Name()) == inner.Name() && strings.Contains(asked.Name(), "/systemd/")
}

// meant says whether a claimed thing is asked about. What is asked about
// without a machine is meant in all of them.
func (w *asking) meant(key thing.Key) bool {
	machine, inner := key.Machine()
	in, asked := w.query.Machine()
	if in == "" && w.query.Kind() == "path" {
		in, asked = inTree(asked)
	}
	if in != "" && in != machine {
		return string(key) == "machine:"+in && in != "" && w.query.Kind() == "path"
	}
	switch {
	case asked.Kind() == "unit":
		return ofUnit(inner, asked.Name())
	case asked.Kind() == "path" && inner.Kind() == "dir":
		return inner.Name() == asked.Name()
	}
	return inner == asked
}

// inTree is a path as it is inside of the machine whose tree it is in.
func inTree(key thing.Key) (machine string, inner thing.Key) {
	rest, ok := strings.CutPrefix(key.Name(), host.MachinesDir+"/")
	if !ok {
		return "", key
	}
	machine, inside, _ := strings.Cut(rest, "/")
	return machine, thing.Key("path:/" + inside)
}

// ofUnit says whether a thing is about a unit: its state, its enabling, its
// file, its drop-ins, or the machine that it runs.
func ofUnit(inner thing.Key, unit string) bool {
	name := inner.Name()
	switch inner.Kind() {
	case "unit-active", "unit-enabled":
		return name == unit
	case "path":
		return path.Base(name) == unit && strings.Contains(name, "/systemd/") || path.Base(path.Dir(name)) == unit+".d"
	case "machine":
		return unit == thing.MachineUnit(name)
	}
	return false
}

func (w *asking) owner(c record.Claim) Owner {
	o := Owner{Thing: string(c.Thing), Origin: c.Origin.Kind, Changes: []Change{}}
	if o.Origin == "" {
		o.Origin = "untouched"
	}
	if c.Step == nil {
		return o
	}
	o.Step, o.Type, o.Machine = c.Step.Address, c.Step.Type, c.Step.Machine
	if at := slices.IndexFunc(w.Steps, func(p block.Placed) bool { return p.Address == o.Step }); at >= 0 {
		o.Stage, o.Description = w.Steps[at].Stage, w.Steps[at].Description
	}
	if r, ok := w.Written(o.Step); ok {
		o.Filename, o.Line = r.Filename, r.Start.Line
	}
	_, inner := c.Thing.Machine()
	o.Changes = w.changes(o.Step, inner)
	return o
}

// changes are those of a step that were about a thing, newest first.
func (w *asking) changes(step string, key thing.Key) []Change {
	all := []Change{}
	for _, r := range w.runs {
		for i := range slices.Backward(r.Steps) {
			s := &r.Steps[i]
			about := len(s.Things) == 0 || key == "" || slices.Contains(s.Things, string(key))
			if s.Address != step || !s.Did() || !about {
				continue
			}
			if len(all) == maxChanges {
				return all
			}
			all = append(all, Change{
				Run: r.Number, Time: r.At(s).UTC(), Command: r.Command, Action: s.Action, Reason: s.Reason, Because: s.After, Drift: len(s.Drift) > 0,
			})
		}
	}
	return all
}

func (w *asking) restarts() {
	in, asked := w.query.Machine()
	for i := range w.Steps {
		p := &w.Steps[i]
		watcher, ok := p.Step.(block.Watcher)
		if !ok || in != "" && in != p.Machine {
			continue
		}
		watch, unit := watcher.Watches()
		if unit != asked.Name() {
			continue
		}
		r := Restart{Step: p.Address, Machine: p.Machine, Watch: watch, Changes: w.changes(p.Address, "")}
		if at, ok := w.Written(p.Address); ok {
			r.Filename, r.Line = at.Filename, at.Start.Line
		}
		for _, d := range w.Debts {
			if d.Step == p.Address {
				r.Owed = d.Cause + ": " + d.Reason
			}
		}
		w.answer.Restarts = append(w.answer.Restarts, r)
	}
}

// now asks the service manager. Where there is none, nothing is said.
func (w *asking) now(ctx context.Context, h host.Host) {
	machine, asked := w.query.Machine()
	view := h.View()
	for _, o := range w.answer.Owners {
		if machine == "" {
			machine, _ = thing.Key(o.Thing).Machine()
		}
	}
	if machine != "" {
		inside, err := h.Machines.View(ctx, machine)
		if err != nil {
			return
		}
		view = inside
	}
	u, err := view.Units.Unit(ctx, asked.Name())
	if err != nil {
		return
	}
	w.answer.Unit = &UnitNow{ActiveState: u.ActiveState, SubState: u.SubState, Result: u.Result, Restarts: u.NRestarts}
}

// above finds the nearest thing above a path that is owned.
func (w *asking) above() {
	machine, asked := w.query.Machine()
	if asked.Kind() != "path" {
		return
	}
	index := map[thing.Key]bool{}
	for _, c := range w.Claims {
		index[c.Thing] = true
	}
	for dir := path.Dir(asked.Name()); dir != "/" && dir != "."; dir = path.Dir(dir) {
		for _, kind := range []string{"path:", "dir:"} {
			if key := thing.Key(kind + dir).On(machine); index[key] {
				w.answer.Above = string(key)
				return
			}
		}
	}
}
