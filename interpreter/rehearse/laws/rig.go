// Package laws holds what is true of every recipe, and tries it on hosts in
// memory: a second run changes nothing, a run that dies anywhere converges, a
// reset gives the host back, a plan is what apply does, and an upgrade leaves
// what a fresh installation would.
package laws

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

// Rig is a host in memory and an interpreter on it. It is used by one
// goroutine.
type Rig struct {
	*memory.Memory
	Vocabulary block.Vocabulary
	// Plan counts the effects of the run at hand and lets one go wrong. A plan
	// serves one run; after that nothing goes wrong.
	Plan *fault.Plan
	// Before is the host as it was when the rig was made.
	Before map[string]memory.Entry
	// Events are those of the last run.
	Events []walk.Event
	// Wrap changes the doors of the host, nil for not at all.
	Wrap func(host.Host) host.Host
	// OwnUnit is the unit that the program runs in, "" if none.
	OwnUnit string
	seed    uint64
}

// New makes a host. It panics when the options contradict themselves.
func New(o memory.Options, vocab block.Vocabulary) *Rig { return On(memory.New(o), vocab) }

// On is a rig of a host.
func On(m *memory.Memory, vocab block.Vocabulary) *Rig {
	r := &Rig{Memory: m, Vocabulary: vocab, Plan: fault.Count()}
	r.Before = r.Standing()
	return r
}

// Standing is what stands on the host, but for what a run may leave under /run.
func (r *Rig) Standing() map[string]memory.Entry { return r.Snapshot("/run", "/proc", "/sys", "/dev") }

// Interpreter is an interpreter for one run.
func (r *Rig) Interpreter() *interpreter.Interpreter {
	r.Events = nil
	if len(r.Plan.Log()) > 0 {
		r.Plan = fault.Count()
	}
	h := r.Host()
	if r.Wrap != nil {
		h = r.Wrap(h)
	}
	r.seed++
	return &interpreter.Interpreter{
		Vocabulary: r.Vocabulary, Host: fault.Wrap(h, r.Plan), Rand: rand.NewChaCha8([32]byte{byte(r.seed)}), OwnUnit: r.OwnUnit,
		Program: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("the interpreter")), nil },
		Emit:    func(e walk.Event) { r.Events = append(r.Events, e) },
		Holder:  host.Holder{PID: 1, Command: "hostler test"},
	}
}

// Verb is a command of the interpreter.
type Verb = func(*interpreter.Interpreter, context.Context, interpreter.Request) (interpreter.Outcome, error)

// The verbs that the laws speak of.
var (
	apply  Verb = (*interpreter.Interpreter).Apply
	ensure Verb = (*interpreter.Interpreter).Ensure
	reset  Verb = (*interpreter.Interpreter).Reset
	plan   Verb = (*interpreter.Interpreter).Plan
	verify Verb = (*interpreter.Interpreter).Verify
	repave Verb = (*interpreter.Interpreter).Repave
)

// installed asks for what is installed.
var installed interpreter.Request

// Run runs a command.
func (r *Rig) Run(do Verb, req interpreter.Request) (interpreter.Outcome, error) {
	r.ResetEffects()
	return do(r.Interpreter(), context.Background(), req)
}

// Store is the installation's memory, read as every run does.
func (r *Rig) Store() *record.Store { return record.NewStore(r.Host(), rand.NewChaCha8([32]byte{})) }

// Effects lists the effects of the last run outside of /run.
func (r *Rig) Effects() (list []string) {
	for _, e := range r.Plan.Log() {
		if !strings.HasPrefix(e.Name, "/run/") && e.Name != "/run" {
			list = append(list, e.Kind+" "+e.Name)
		}
	}
	return list
}

// Changed lists the steps that changed something in the last run, with what
// they did.
func (r *Rig) Changed() (list []string) {
	for _, e := range r.Events {
		if e.Kind == walk.StepFinished && e.Change.Needed() && e.Err == nil {
			list = append(list, string(e.Change.Action)+" "+e.Address)
		}
	}
	return list
}

// inode tells a file from one that was written in its place.
func (r *Rig) inode(name string) uint64 {
	info, err := host.Lstat(r.Host().Files, name)
	if err != nil {
		return 0
	}
	return host.StatOf(info).Ino
}
