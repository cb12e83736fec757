package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Wanted is one thing a target owns, with the step it belongs to.
type Wanted struct {
	Key    thing.Key
	Owned  thing.Owned
	Placed *block.Placed
}

// WantedOf lists the things that placed steps own, in order. A step that acts on
// the way back only also claims itself, by what it does, so that it is not forgotten when it
// names no thing.
func WantedOf(steps []block.Placed) []Wanted {
	var all []Wanted
	for i := range steps {
		p := &steps[i]
		if p.Step == nil {
			continue
		}
		if _, ok := p.Step.(block.ResetOnly); ok || !p.Forward() {
			key := StepKey(*p)
			all = append(all, Wanted{Key: key, Owned: thing.Owned{Thing: pseudo(key)}, Placed: p})
		}
		for _, o := range p.Step.Owns() {
			all = append(all, Wanted{Key: o.Key().On(p.Machine), Owned: o, Placed: p})
		}
	}
	return all
}

// StepKey is the key by which a reset-only step claims itself. It names what
// the step does and not where it stands, so that moving it hands it over.
func StepKey(p block.Placed) thing.Key {
	return thing.Key("step:" + strings.TrimPrefix(thing.Digest(canonical(p.Data)), "sha256:")[:16]).On(p.Machine)
}

// canonical is plain data without the spaces and escapes that a file it was
// read from may have.
func canonical(data json.RawMessage) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return data
	}
	same, err := json.Marshal(v)
	if err != nil {
		return data
	}
	return same
}

// HoldsRecord says whether a claimed directory is one that the installation's
// own memory needs: it goes when the record has gone.
func HoldsRecord(dir thing.Key) bool {
	machine, _ := dir.Machine()
	return machine == "" && strings.HasPrefix(Dir+"/", dir.Name()+"/")
}

func anyBelow(dir thing.Key, claims []Claim) bool {
	machine, _ := dir.Machine()
	for _, c := range claims {
		on, _ := c.Thing.Machine()
		if on == machine && strings.HasPrefix(placeOf(c.Thing), strings.TrimSuffix(dir.Name(), "/")+"/") {
			return true
		}
	}
	return false
}

// placeOf is the path of a thing for which directories above it have to be
// there, "" for others.
func placeOf(key thing.Key) string {
	machine, inner := key.Machine()
	switch {
	case strings.HasPrefix(string(inner), "path:"):
		return key.Name()
	case machine == "" && strings.HasPrefix(string(inner), "machine:"):
		return host.MachineRoot(key.Name())
	}
	return ""
}

// ParentsOf lists the directories above a thing, outermost first; none for a
// thing that stands in no directory.
func ParentsOf(key thing.Key) []string { return Parents(placeOf(key)) }

// ClaimDir claims a directory that the interpreter makes, before the first
// claim below it. One that is claimed already stays as it is: the first mode
// wins.
func (r *Record) ClaimDir(key thing.Key) {
	if r.Claim(key) != nil {
		return
	}
	at := slices.IndexFunc(r.Claims, func(c Claim) bool { return anyBelow(key, []Claim{c}) })
	if at < 0 {
		at = len(r.Claims)
	}
	r.Claims = slices.Insert(r.Claims, at, Claim{Thing: key, Origin: thing.Origin{Kind: thing.OriginAbsent}})
}

// machineKey is the claim of a machine.
func machineKey(name string) thing.Key { return thing.Key("machine:" + name) }

// Drop forgets the claims of things that have been undone.
func (r *Record) Drop(keys ...thing.Key) {
	gone := make(map[thing.Key]bool, len(keys))
	for _, key := range keys {
		gone[key] = true
	}
	r.Claims = slices.DeleteFunc(r.Claims, func(c Claim) bool { return gone[c.Thing] })
	maps.DeleteFunc(r.Machines, func(_ string, b block.Built) bool { return gone[machineKey(b.Active)] })
}

// Writes notes in a claim that the wanted content may be written.
func (r *Record) Writes(w Wanted, keyed func(string) string) {
	if c := r.Claim(w.Key); c != nil {
		c.Wrote = wrote(c.Wrote, w.Owned, keyed)
	}
}

// wrote puts the wanted content in front of those that may have been written
// before.
func wrote(before []string, o thing.Owned, keyed func(string) string) []string {
	if o.Want == nil {
		return before
	}
	content := Content(*o.Want)
	if content == "" {
		return before
	}
	if o.Sensitive && strings.HasPrefix(content, "sha256:") {
		if keyed == nil {
			return before
		}
		content = keyed(content)
	}
	all := append([]string{content}, slices.DeleteFunc(slices.Clone(before), func(s string) bool { return s == content })...)
	return all[:min(len(all), keepWrote)]
}

// Content is a state's content as Claim.Wrote lists it, "" for one that has
// none.
func Content(s thing.State) string {
	switch s.Kind {
	case thing.File:
		return s.Digest
	case thing.Link:
		return "link:" + s.Target
	case thing.Directory:
		return "directory"
	case thing.Present:
		return "value:" + s.Value
	}
	return s.Kind
}

// Wrote says whether the state is one of the contents we may have written.
func (c Claim) WroteState(s thing.State, keyed func(string) string) bool {
	content := Content(s)
	if slices.Contains(c.Wrote, content) {
		return true
	}
	return keyed != nil && s.Kind == thing.File && slices.Contains(c.Wrote, keyed(content))
}

// pseudo is a thing that is nowhere on the host.
type pseudo thing.Key

// parents lists the directories above a path, outermost first, without "/".
func Parents(name string) []string {
	var dirs []string
	if name == "" {
		return nil
	}
	for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}
