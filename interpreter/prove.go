package interpreter

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// prover sorts the claims of a reset without a record by what can be proved.
type prover struct {
	*run
	force bool
	// elsewhere are claims below other prefixes than the installation's.
	elsewhere map[thing.Key]bool
	// originals are those that were kept, by thing.
	originals map[thing.Key]thing.Origin
	// units are those whose own file, or whose machine, is ours.
	units map[string]bool
	dirs  []thing.Key
	left  []thing.Key
}

// proofs are what is known beside the claims themselves.
type proofs struct {
	sides  map[string]record.Sidecar // kept originals, by backup
	steps  []block.Placed            // of the installation
	others []layout                  // where files may be below other prefixes
}

// elsewhere are the things that only a layout below another prefix has.
func (k proofs) elsewhere() map[thing.Key]bool {
	found := map[thing.Key]bool{}
	for _, l := range k.others {
		for _, w := range below(l) {
			found[w.Key] = true
		}
	}
	for _, w := range record.WantedOf(k.steps) {
		delete(found, w.Key)
	}
	return found
}

// prove gives each claim the origin that can be proved and returns the things
// that are there and cannot be proved to be ours. Those stay claimed as
// untouched.
func (r *run) prove(ctx context.Context, req Request, rec *record.Record, known proofs) ([]thing.Key, error) {
	p := &prover{run: r, force: req.Force, originals: map[thing.Key]thing.Origin{}, units: map[string]bool{}, elsewhere: known.elsewhere()}
	for backup, side := range known.sides {
		st := side.State
		p.originals[side.Thing] = thing.Origin{Kind: thing.OriginSaved, State: &st, Backup: backup}
	}
	var claims []record.Claim
	for _, c := range rec.Claims {
		found, err := p.look(ctx, &c)
		if err != nil {
			return nil, err
		}
		switch {
		case found.present && p.decide(&c, found):
			claims = append(claims, c)
		case !found.present && ofUnit(c.Thing) && !p.units[c.Thing.Name()]:
			p.leave(&c, "what it was before is not known")
		}
	}
	rec.Claims = claims
	p.claimDirs(rec)
	return p.left, nil
}

// proof is what a look at a claimed thing proves: that it is there, that it is
// exactly what we would have written, that it may have been there before us.
type proof struct {
	present, ours, foreign bool
	state                  thing.State
}

// look looks for a proof that a thing is ours. What is inside a machine falls
// with it.
func (p *prover) look(ctx context.Context, c *record.Claim) (proof, error) {
	machine, inner := c.Thing.Machine()
	if c.Step == nil || machine != "" && !strings.HasPrefix(string(inner), "step:") {
		return proof{}, nil
	}
	placed, err := p.restore(*c.Step)
	if err != nil {
		return proof{}, err
	}
	if _, ok := placed.Step.(block.ResetOnly); ok {
		return proof{present: true, ours: true}, nil
	}
	for _, o := range placed.Step.Owns() {
		if o.Key() == inner {
			return p.lookAt(ctx, c, o)
		}
	}
	return proof{}, nil
}

func (p *prover) lookAt(ctx context.Context, c *record.Claim, o thing.Owned) (proof, error) {
	st, err := o.Look(ctx, p.host.View())
	switch {
	case errors.Is(err, host.ErrUnknown), errors.Is(err, host.ErrNoManager), errors.Is(err, host.ErrNoMachined):
		return proof{}, nil
	case err != nil:
		return proof{}, err
	}
	_, kept := p.originals[c.Thing]
	found := proof{present: kept || st.Kind != thing.Absent, foreign: o.Foreign, state: st}
	switch name := c.Thing.Name(); c.Thing.Kind() {
	case "path":
		found.ours = st.Kind != thing.Absent && (c.WroteState(st, p.keyed()) || o.Delivered || p.interpreters(name))
		if found.ours {
			p.units[path.Base(name)] = true
		}
	case "machine":
		found.ours = st.Digest != "" // its completion mark is there
		if found.ours || p.force {
			p.units[thing.MachineUnit(name)] = true
		}
	case "unit-enabled", "unit-active":
		found.ours = p.units[name]
	}
	return found, nil
}

// decide gives a claim of something that is there its origin. It is false for
// one that is dropped.
func (p *prover) decide(c *record.Claim, found proof) bool {
	o, kept := p.originals[c.Thing]
	kind := c.Thing.Kind()
	switch {
	case kept:
		c.Origin = o
	case p.elsewhere[c.Thing] && !found.ours:
		return false // a file of somebody else's that is called as ours would be
	case found.ours && found.state.Kind == thing.Directory:
		if standing(c.Thing.Name()) {
			p.leave(c, "systems bring such a directory, and what it was before is not known")
		}
		p.dirs = append(p.dirs, thing.Key("dir:"+c.Thing.Name()))
		return false // it goes when it is empty
	case found.ours:
		c.Origin = thing.Origin{Kind: thing.OriginAbsent}
	case kind != "path" && kind != "machine":
		p.leave(c, "what it was before is not known")
		return false
	case found.foreign:
		p.leave(c, "it is not what hostler wrote, and may have been there before")
		return false
	case p.force:
		c.Origin = thing.Origin{Kind: thing.OriginAbsent}
	default:
		c.Origin = thing.Origin{}
		p.left = append(p.left, c.Thing)
	}
	return true
}

// leave warns of what stays as it is.
func (p *prover) leave(c *record.Claim, why string) {
	p.warn(block.Warning{Summary: "Left as it is", Detail: string(c.Thing) + ": " + why})
}

// interpreters says whether a path is one that only the interpreter has.
func (p *prover) interpreters(name string) bool {
	prefix := p.installPrefix()
	slots := delivery.Slots(prefix)
	return slices.Contains([]string{
		slots[0], slots[1], delivery.Next(prefix), delivery.Current(prefix), delivery.LastGood(prefix),
		delivery.UnitPath(delivery.DaemonUnit), delivery.UnitPath(delivery.RecoveryUnit),
	}, name)
}

func ofUnit(key thing.Key) bool {
	machine, _ := key.Machine()
	return machine == "" && (key.Kind() == "unit-enabled" || key.Kind() == "unit-active")
}

// claimDirs claims the directories above claimed paths: those that turn out to
// be empty go, but for those that systems bring.
func (p *prover) claimDirs(rec *record.Record) {
	for _, c := range append([]record.Claim(nil), rec.Claims...) {
		if machine, _ := c.Thing.Machine(); machine != "" || c.Thing.Kind() != "path" {
			continue
		}
		for _, dir := range record.Parents(c.Thing.Name()) {
			p.dirs = append(p.dirs, thing.Key("dir:"+dir))
		}
	}
	for _, dir := range p.dirs {
		if !standing(dir.Name()) {
			rec.ClaimDir(dir)
		}
	}
	for _, dir := range append(record.Parents(record.Dir), record.Dir) {
		rec.ClaimDir(thing.Key("dir:" + dir))
	}
}

// standing says whether a directory is one that systems bring, empty or not:
// those at the top, in /usr, /usr/local and /var, and where units are.
func standing(dir string) bool {
	depth := strings.Count(dir, "/")
	under := func(top string) bool { return strings.HasPrefix(dir, top+"/") }
	switch {
	case depth <= 1, dir == "/etc/systemd", dir == "/etc/systemd/system":
		return true
	case under("/usr/local"):
		return depth <= 3
	}
	return (under("/usr") || under("/var")) && depth <= 2
}
