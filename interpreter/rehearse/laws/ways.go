package laws

import (
	"fmt"
	"syscall"

	"hostler/interpreter"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
)

// Way is one way in which a run goes wrong at its n-th effect.
type Way struct {
	Name string
	// Every n-th point is tried; 1 is all.
	Every int
	// Survived says that the run goes on after the fault.
	Survived bool
	plan     func(r *Rig, n int) *fault.Plan
	died     func(r *Rig)
}

// errnos are the faults of the kernel that are tried.
var errnos = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EBUSY, syscall.EINTR}

// Crashes are the death of the program before an effect, and a power loss that
// takes all that was not synced.
func Crashes(every int) []Way {
	return []Way{crashBefore(every), PowerLoss("power loss, most lost", every, memory.LoseMost)}
}

// AllWays are all ways: every n-th point of crash, power and errno.
func AllWays(crash, power, errno int) []Way {
	ways := []Way{
		crashBefore(crash),
		{Name: "crash after", Every: crash, plan: func(_ *Rig, n int) *fault.Plan { return fault.CrashAfter(n).Gently() }, died: (*Rig).crash},
		PowerLoss("power loss, most lost", power, memory.LoseMost),
		PowerLoss("power loss, most kept", power, memory.KeepMost),
		PowerLoss("power loss, some lost", power, some()),
	}
	for i, e := range errnos {
		ways = append(ways,
			Way{Name: e.Error(), Every: errno, Survived: true, plan: func(_ *Rig, n int) *fault.Plan { return fault.FailAt(n, e) }},
			Way{Name: e.Error() + " from then on", Every: errno * len(errnos), Survived: true, plan: func(_ *Rig, n int) *fault.Plan { return fault.FailAt(n+i, e).From() }})
	}
	return append(ways, Way{Name: "done and EIO", Every: errno, Survived: true, plan: func(_ *Rig, n int) *fault.Plan { return fault.FailAfter(n, syscall.EIO) }})
}

func crashBefore(every int) Way {
	return Way{Name: "crash before", Every: every, plan: func(_ *Rig, n int) *fault.Plan { return fault.CrashAt(n).Gently() }, died: (*Rig).crash}
}

func (r *Rig) crash() { r.Crash() }

// PowerLoss is the loss of power at an effect; choose is as for
// [memory.Memory.PowerLoss].
func PowerLoss(name string, every int, choose func(int) int) Way {
	return Way{Name: name, Every: every, plan: func(r *Rig, n int) *fault.Plan {
		return fault.LoseAt(n, func(fault.Effect) { r.PowerLoss(choose) })
	}}
}

// some answers differently from question to question, the same every time.
func some() func(int) int {
	n := 0
	return func(ways int) int {
		n = n*31 + 7
		return (n >> 3 & 0xffff) % ways
	}
}

// GoWrong runs a command that goes wrong at its n-th effect, and says where.
func (r *Rig) GoWrong(w Way, n int, do Verb, req interpreter.Request) string {
	r.Plan = w.plan(r, n)
	_, err := r.Run(do, req)
	log := r.Plan.Log()
	if w.died != nil {
		w.died(r)
	}
	r.Plan = fault.Count()
	if n > len(log) {
		return fmt.Sprintf("nowhere (%v)", err)
	}
	if err != nil && w.Survived {
		return fmt.Sprintf("at effect %s (%v)", log[n-1], err)
	}
	return "at effect " + log[n-1].String()
}
