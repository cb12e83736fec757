package interpreter

import (
	"context"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/walk"
)

// Attendant is told of one run that may change the host, for whoever keeps its
// history or tells others of it. It is called under the installation lock by
// one goroutine and cannot fail a run.
type Attendant interface {
	// Admitted is told what the run drives to, once: before the requirements
	// are checked and before anything is changed. A run that is refused
	// earlier ends without it.
	Admitted(ctx context.Context, a Admitted)
	// Event is told every event of the walk.
	Event(e walk.Event)
	// Ended is told how the run ended, also when ctx was cancelled. It returns
	// what an operator should know of its own work.
	Ended(ctx context.Context, e Ended) []block.Warning
}

// Admitted is a run that may go on.
type Admitted struct {
	Command  string
	Identity Identity
	// Phase is that of the installation before the run.
	Phase string
	Facts host.Facts
	// Steps are what the run drives to; of a reset, what was driven to.
	Steps []block.Placed
	// Fill makes a step again with its sensitive values. The error is
	// block.ErrNeedsInput when one has no value in this run.
	Fill func(ctx context.Context, p *block.Placed) (block.Step, error)
	// Secrets are texts among the values given that must not be shown.
	Secrets func() []string
}

// Ended is a run that has ended.
type Ended struct {
	Outcome
	Command string
	Began   time.Time
	Time    time.Time
	Err     error
	// Begun says that the run changed something, or was about to; Walked that
	// it came as far as the steps.
	Begun, Walked bool
	// Debts is how many restarts are owed.
	Debts int
	// Facts are those of the host, as far as they could be read.
	Facts host.Facts
}

// attend begins to tell of a run.
func (r *run) attend(began time.Time) {
	if r.Attend != nil && r.host.Identity.Live {
		r.attendant = r.Attend(began)
	}
}

// admitted notes what the run drives to, and tells it, the first time.
func (r *run) admitted(ctx context.Context, t *target) {
	if r.target != "" {
		return
	}
	if r.target = t.name; r.attendant == nil {
		return
	}
	r.attendant.Admitted(ctx, Admitted{
		Command: r.Holder.Command, Identity: identityOf(r.rec), Phase: string(r.rec.Phase), Facts: r.facts, Steps: t.steps,
		Fill: r.fill(r.req, t.name), Secrets: func() []string { return r.secrets(ctx, t.name) },
	})
}

// secrets are the texts in the sensitive values given.
func (r *run) secrets(ctx context.Context, name string) []string {
	recipe := r.req.Recipe
	if recipe == nil {
		st, err := r.store.LoadState(ctx, name)
		if err != nil {
			return nil
		}
		src := &stored{r.store, st, st.Main}
		var diags interface{ HasErrors() bool }
		if recipe, diags = eval.Load(src, r.Vocabulary, src, ""); diags.HasErrors() {
			return nil
		}
	}
	values, _ := recipe.Secrets(r.req.Given)
	return recipe.SecretTexts(values)
}

// ended tells how the run ended.
func (r *run) ended(ctx context.Context, began time.Time, err error) {
	if r.attendant == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	debts, _ := r.store.Debts(ctx) // what cannot be read, status says
	for _, w := range r.attendant.Ended(ctx, Ended{
		Outcome: r.out, Command: r.Holder.Command, Began: began, Time: r.host.Clock.Now(), Err: err, Begun: r.begun, Walked: r.walked,
		Debts: len(debts), Facts: r.facts,
	}) {
		r.warn(w)
	}
}
