package rehearse

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/rehearse/laws"
)

// lawsOf is the work of trying the laws with the host and inputs of a test that
// begins with an installation that is to succeed.
func (s *Suite) lawsOf(ctx context.Context, t *Test, opts Options) (work []func() Case) {
	if opts.NoLaws || !s.installs(t) {
		return nil
	}
	for _, law := range laws.Names() {
		if t.except[law] {
			continue
		}
		if law != laws.UpgradePrunes {
			work = append(work, s.tryLaw(ctx, t, law, "", opts))
			continue
		}
		for _, dir := range s.previous {
			work = append(work, s.tryLaw(ctx, t, law, dir, opts))
		}
	}
	return work
}

// installs says whether a test begins with an installation on a host where
// nothing goes wrong, and is the first of those with this host and these
// inputs.
func (s *Suite) installs(t *Test) bool {
	if t.first() == nil {
		return false
	}
	for _, o := range s.Tests {
		if o == t {
			return true
		}
		if o.first() != nil && o.setting() == t.setting() {
			return false
		}
	}
	return false
}

// first is the installation that a test begins with; looking before it is
// nothing. It is nil when there is none, or one that is not to succeed.
func (t *Test) first() *runBlock {
	for _, a := range t.acts {
		run := a.run
		switch {
		case run == nil || len(t.host.Faults) > 0:
			return nil
		case run.verb == "plan", run.verb == "preflight":
			continue
		case run.verb != "apply" && run.verb != "ensure", run.failure != nil, len(run.Faults) > 0, run.Recipe != "", run.Installed:
			return nil
		}
		return run
	}
	return nil
}

// setting tells tests apart that differ in host or inputs.
func (t *Test) setting() string {
	run := t.first()
	host, err := json.Marshal([]any{t.inputs, run.inputs, run.Prefix, t.host.Key(), t.except})
	if err != nil {
		return t.File + t.Name
	}
	return fmt.Sprintf("%x", sha256.Sum256(host))
}

// tryLaw tries one law; previous is the directory of an earlier version for the
// law that needs one.
func (s *Suite) tryLaw(ctx context.Context, t *Test, law, previous string, opts Options) func() Case {
	return func() Case {
		began := opts.Now()
		c := Case{File: t.File, Name: t.Name, Law: law, Range: t.Range}
		scenario, diags := s.scenario(t, previous)
		if scenario == nil {
			c.Failures = diags
			return c
		}
		if previous != "" {
			c.Name += ", from " + previous
		}
		scenario.Every = opts.Every
		for _, bad := range scenario.Check(ctx, law) {
			c.Failures = append(c.Failures, diagnose(&t.Range, "Law broken: "+law, "%s.", bad))
		}
		if err := ctx.Err(); err != nil {
			c.Failures = append(c.Failures, diagnose(&t.Range, "Interrupted", "%v.", err))
		}
		c.Took = opts.Now().Sub(began)
		return c
	}
}

// scenario is what the laws are tried with.
func (s *Suite) scenario(t *Test, previous string) (*laws.Scenario, hcl.Diagnostics) {
	run := &running{Suite: s, Test: t, recipes: map[string]recipe{}}
	block := *t.first()
	now, err := run.request(&block)
	if err != nil {
		return nil, hcl.Diagnostics{diagnose(&t.Range, "Recipe not valid", "%v.", err)}
	}
	law := &laws.Scenario{V1: now, Rig: func() *laws.Rig { return laws.New(t.host.Options(), s.Vocabulary) }}
	if previous != "" {
		block.Recipe = previous
		var before interpreter.Request
		if before, err = run.request(&block); err != nil {
			return nil, hcl.Diagnostics{diagnose(&t.Range, "Earlier version not valid", "%s: %v.", previous, err)}
		}
		law.V1, law.V2 = before, &now
	}
	return law, nil
}
