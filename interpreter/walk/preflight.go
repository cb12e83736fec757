package walk

import (
	"context"

	"hostler/interpreter/block"
)

// Preflight checks the steps that must hold before anything is changed,
// wherever they stand, all of them but those that known says are known to
// hold; nil is none.
func Preflight(ctx context.Context, in Input, known func(*block.Placed) bool) []Finding {
	w := newWalker(in)
	var findings []Finding
	for i := range w.Desired {
		p := &w.Desired[i]
		if !p.Type.Preflight || p.Step == nil || known != nil && known(p) {
			continue
		}
		f := Finding{Address: p.Address, Placed: p}
		do, err := w.place(ctx, p)
		if err == nil {
			f.Change, err = p.Step.Check(ctx, do.Look)
		}
		f.Err = err
		findings = append(findings, f)
	}
	return findings
}

// Finding is what one preflight step found: nothing when Err is nil and
// Change needs nothing.
type Finding struct {
	Address string
	Placed  *block.Placed
	Change  block.Change
	Err     error
}

// Standing are those of the steps that which picks that find the host as they
// want it. What cannot be told before its turn is not among them.
func Standing(ctx context.Context, in Input, which func(*block.Placed) bool) map[*block.Placed]bool {
	w := newWalker(in)
	standing := map[*block.Placed]bool{}
	for i := range w.Desired {
		p := &w.Desired[i]
		if p.Step == nil || !which(p) {
			continue
		}
		do, err := w.place(ctx, p)
		if err != nil {
			continue
		}
		if change, err := p.Step.Check(ctx, do.Look); err == nil && !change.Needed() {
			standing[p] = true
		}
	}
	return standing
}
