package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse/laws"
)

// Run runs the tests of the suite and the laws, several at a time. It stops
// early when ctx ends.
func (s *Suite) Run(ctx context.Context, opts Options) Result {
	res := Result{Name: s.Name, Sources: s.Sources, Golden: map[string]string{}}
	cover := newCover()
	var lock sync.Mutex
	golden := func(name, text string) {
		lock.Lock()
		defer lock.Unlock()
		res.Golden[name] = text
	}
	var work []func() Case
	for _, t := range s.Tests {
		if opts.Match != nil && !opts.Match(t.Name) {
			continue
		}
		run := &running{Suite: s, Test: t, opts: opts, cover: cover, golden: golden, recipes: map[string]recipe{}}
		work = append(work, run.all(ctx))
		work = append(work, s.lawsOf(ctx, t, opts)...)
	}
	res.Cases = make([]Case, len(work))
	var group errgroup.Group
	group.SetLimit(opts.parallel())
	for i, do := range work {
		group.Go(func() error { res.Cases[i] = do(); return nil })
	}
	_ = group.Wait() // no job has an error
	if r, _, diags := s.open(""); !diags.HasErrors() {
		res.Coverage = cover.of(r)
	}
	return res
}

func (o Options) parallel() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// recipe is one that was loaded for a test, with how.
type recipe struct {
	*eval.Recipe
	bundle *interpreter.Bundle
	diags  hcl.Diagnostics
}

// running is one test that runs.
type running struct {
	*Suite
	*Test
	opts    Options
	cover   *cover
	golden  func(name, text string)
	rig     *laws.Rig
	recipes map[string]recipe
	found   hcl.Diagnostics
}

// all is the work of the test.
func (t *running) all(ctx context.Context) func() Case {
	return func() Case {
		began := t.opts.Now()
		c := Case{File: t.Test.File, Name: t.Test.Name, Range: t.Range}
		m, err := t.host.New()
		if err != nil {
			c.Failures = hcl.Diagnostics{diagnose(&t.Range, "Host not possible", "%v.", err)}
			return c
		}
		t.rig = laws.On(m, t.Vocabulary)
		for _, a := range t.acts {
			if len(t.found) > 0 || ctx.Err() != nil {
				break // what follows builds on it
			}
			if a.event != nil {
				if err := a.event.do(ctx, t.rig); err != nil {
					t.fail(a.rng, "Event failed", "%v.", err)
				}
				continue
			}
			t.command(ctx, a.run)
		}
		if err := ctx.Err(); err != nil {
			t.fail(t.Range, "Interrupted", "%v.", err)
		}
		c.Failures, c.Took = t.found, t.opts.Now().Sub(began)
		return c
	}
}

func (t *running) fail(rng hcl.Range, summary, format string, args ...any) {
	t.found = append(t.found, diagnose(&rng, summary, format, args...))
}

// load loads the recipe or an earlier version, once a test.
func (t *running) load(dir string) recipe {
	if r, ok := t.recipes[dir]; ok {
		return r
	}
	r, bundle, diags := t.open(dir)
	t.recipes[dir] = recipe{r, bundle, errorsOf(diags)}
	return t.recipes[dir]
}

// inputsFile is how diagnostics call the inputs of a test.
const inputsFile = "inputs.json"

// given are inputs as a file; those that the recipe does not declare are left
// out for an earlier version, which need not know them.
func given(r *eval.Recipe, inputs map[string][]byte, earlier bool) []eval.Given {
	values := map[string]json.RawMessage{}
	for name, text := range inputs {
		values[name] = text
	}
	if earlier {
		declared := map[string]bool{}
		for _, v := range r.Variables() {
			declared[v.Name] = true
		}
		for name := range values {
			if !declared[name] {
				delete(values, name)
			}
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		text = []byte("{}") // they were made by an encoder
	}
	return []eval.Given{{Strength: eval.FromFile, Filename: inputsFile, Text: text}}
}

// request is what a run asks for.
func (t *running) request(run *runBlock) (interpreter.Request, error) {
	req := interpreter.Request{
		Prefix: run.Prefix, Previous: run.Previous, DiscardEdits: run.DiscardEdits, AllowDestroy: run.AllowDestroy, Force: run.Force,
	}
	if run.Installed || (run.verb == "verify" || run.verb == "reset") && run.Recipe == "" && run.inputs == nil {
		return req, nil
	}
	r := t.load(run.Recipe)
	if r.diags.HasErrors() {
		return req, r.diags
	}
	inputs := map[string][]byte{}
	for _, values := range []map[string][]byte{t.inputs, run.inputs} {
		for name, text := range values {
			inputs[name] = text
		}
	}
	req.Recipe, req.Bundle, req.Given = r.Recipe, r.bundle, given(r.Recipe, inputs, run.Recipe != "")
	return req, nil
}

// told is an error as one text, all diagnostics of it.
func told(err error) string {
	diags, ok := errors.AsType[hcl.Diagnostics](err)
	if !ok {
		return err.Error()
	}
	text := ""
	for _, d := range diags {
		text += fmt.Sprintf("%s; %s\n", d.Summary, d.Detail)
	}
	return text
}
