// Package fault wraps a host and lets one of its effects go wrong: the n-th
// thing that would be changed, through any door, fails, is done and then
// fails, is where the program dies, or is where a test does something else
// (takes the power away). A test that runs a scenario once to count its
// effects, and then once for every n, has seen a fault at every point where
// one can be.
//
// Looking is no effect, taking a lock is none, and sleeping is none.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Effect is one thing that would be changed.
type Effect struct {
	N int // counted from 1
	// Kind is the call, for example "rename", "sync" or "unit start".
	Kind string
	// Name is the file, unit, machine, key or program. Of a file it is the
	// first name that the call was given.
	Name string
	// Machine is the machine inside which it happens, "" for the host.
	Machine string
}

// String is for messages: "7: rename /etc/x.tmp".
func (e Effect) String() string {
	where := ""
	if e.Machine != "" {
		where = " in machine " + e.Machine
	}
	return fmt.Sprintf("%d: %s %s%s", e.N, e.Kind, e.Name, where)
}

// action is what happens at the chosen effect.
type action int

const (
	nothing action = iota
	fail
	doThenFail
	die
	doThenDie
	hook
	hookThenDie
)

// Plan says which effect goes wrong and how, and lists all that were asked
// for. One Plan serves one run. The zero value only counts.
type Plan struct {
	mu   sync.Mutex
	at   int
	on   func(Effect) bool
	from bool
	do   action
	err  error
	hook func(Effect)
	log  []Effect
	dead *Crash
	// gentle lets the program die without a panic.
	gentle bool
}

// Count returns a plan in which nothing goes wrong.
func Count() *Plan { return &Plan{} }

// FailAt returns a plan whose n-th effect is not done and returns err; calls
// of the file door wrap it in an *fs.PathError.
func FailAt(n int, err error) *Plan { return &Plan{at: n, do: fail, err: err} }

// FailAfter returns a plan whose n-th effect is done and returns err all the
// same, whether or not it went well.
func FailAfter(n int, err error) *Plan { return &Plan{at: n, do: doThenFail, err: err} }

// CrashAt returns a plan in which the program dies at the n-th effect, which
// is not done: the call panics with a *Crash, and no later call through the
// host has an effect.
func CrashAt(n int) *Plan { return &Plan{at: n, do: die} }

// CrashAfter is CrashAt, with the n-th effect done.
func CrashAfter(n int) *Plan { return &Plan{at: n, do: doThenDie} }

// HookAt returns a plan that calls f before the n-th effect is done.
func HookAt(n int, f func(Effect)) *Plan { return &Plan{at: n, do: hook, hook: f} }

// LoseAt returns a plan that calls f at the n-th effect, which is not done, and
// lets the program die there, gently: f takes the host away.
func LoseAt(n int, f func(Effect)) *Plan { return &Plan{at: n, do: hookThenDie, hook: f, gentle: true} }

// Gently lets the program die without a panic, for programs of several
// goroutines: the effect and every later one returns [ErrDead]. [Plan.Died]
// tells.
func (p *Plan) Gently() *Plan { p.gentle = true; return p }

// From makes every effect go wrong from the n-th one on, as on a disk that is
// full and stays so.
func (p *Plan) From() *Plan { p.from = true; return p }

// Only counts the effects for which match is true; all are logged.
func (p *Plan) Only(match func(Effect) bool) *Plan { p.on = match; return p }

// Log lists the effects that were asked for, those that failed too.
func (p *Plan) Log() []Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// Crash is the death of the program at an effect.
type Crash struct{ Effect Effect }

func (c *Crash) Error() string { return "the program died at effect " + c.Effect.String() }

// ErrDead is what calls return after the program died: code that runs while
// the panic unwinds has no effect.
var ErrDead = errors.New("the program is dead")

// Recover runs the program and returns how it died, nil if it returned. Other
// panics go on.
func Recover(program func()) (c *Crash) {
	defer func() {
		r := recover()
		if crash, ok := r.(*Crash); ok {
			c = crash
		} else if r != nil {
			panic(r)
		}
	}()
	program()
	return nil
}

// Died says whether the program has died at its chosen effect.
func (p *Plan) Died() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead != nil
}

// next logs an effect and says what happens at it.
func (p *Plan) next(kind, name, machine string) (Effect, action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := Effect{N: 1 + len(p.log), Kind: kind, Name: name, Machine: machine}
	counted := len(p.log) + 1
	if p.on != nil {
		counted = p.matching(e)
	}
	p.log = append(p.log, e)
	if counted != 0 && (counted == p.at || p.from && counted > p.at) {
		return e, p.do
	}
	return e, nothing
}

// matching is the number of e among the effects that match, 0 if it does not.
func (p *Plan) matching(e Effect) int {
	if !p.on(e) {
		return 0
	}
	n := 1
	for _, earlier := range p.log {
		if p.on(earlier) {
			n++
		}
	}
	return n
}

// run does an effect, or what the plan has for it instead.
func (p *Plan) run(kind, name, machine string, do func() error) error {
	if p.Died() {
		return ErrDead
	}
	e, what := p.next(kind, name, machine)
	switch what {
	case fail:
		return p.err
	case die:
		return p.kill(e)
	case hookThenDie:
		p.hook(e)
		return p.kill(e)
	case hook:
		p.hook(e)
	}
	err := do()
	switch what {
	case doThenFail:
		return p.err
	case doThenDie:
		return p.kill(e)
	}
	return err
}

// kill lets the program die: with a panic, unless that is to be gentle.
func (p *Plan) kill(e Effect) error {
	c := &Crash{e}
	p.mu.Lock()
	p.dead = c
	p.mu.Unlock()
	if p.gentle {
		return ErrDead
	}
	panic(c)
}
