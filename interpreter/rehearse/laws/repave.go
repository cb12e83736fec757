package laws

import (
	"context"
	"fmt"
)

// Repave lets repaves go wrong: the host is at what was applied, or at the new
// target if that was committed, and a second repave gets there.
func (m *Misery) Repave(ctx context.Context) {
	if m.Moved == nil {
		return
	}
	clean := m.Rig()
	if _, ok := m.count(clean, "apply", apply, m.V1); !ok {
		return
	}
	old, err := clean.End()
	effects, ok := m.count(clean, "repave", repave, *m.Moved)
	want, err2 := clean.End()
	if err != nil || err2 != nil || !ok {
		m.Report(fmt.Sprintf("a repave leaves a damaged record: %v, %v", err, err2))
		return
	}
	m.each(ctx, "repave", effects, 3, func(w Way, n int) string { return m.repave(w, n, old, want) })
	m.each(ctx, "repave, then", effects, 6, func(w Way, n int) string {
		r := m.Rig()
		if _, err := r.Run(apply, m.V1); err != nil {
			return "cannot be tried: " + err.Error()
		}
		at := r.GoWrong(w, n, repave, *m.Moved)
		if n%2 == 0 { // begun anew at once
			if _, err := r.Run(repave, *m.Moved); err != nil {
				return fmt.Sprintf("%s, then repave fails: %v", at, err)
			}
		}
		return r.undone(at)
	})
}

func (m *Misery) repave(w Way, n int, old, want Ending) string {
	r := m.Rig()
	if _, err := r.Run(apply, m.V1); err != nil {
		return "cannot be tried: " + err.Error()
	}
	before := r.applied()
	at := r.GoWrong(w, n, repave, *m.Moved)
	if _, err := r.Run(ensure, m.V1); err != nil {
		return fmt.Sprintf("%s, then ensure fails: %v", at, err)
	}
	rec, err := r.Store().Load(context.Background())
	if err != nil || rec.Repave != nil {
		return fmt.Sprintf("%s, in the end the repave is not settled (%v)", at, err)
	}
	if rec.Applied == before {
		if bad := ended(r, old); bad != "" {
			return at + ", back at the old machine, " + bad
		}
		if _, err := r.Run(repave, *m.Moved); err != nil {
			return fmt.Sprintf("%s, then repave fails: %v", at, err)
		}
	}
	if bad := ended(r, want); bad != "" {
		return at + ", " + bad
	}
	return ""
}
