package interpreter_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/rehearse/laws"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// text is a recipe: its header, then body. The fingerprint is that of var.id.
func text(body string) string { return header + body }

const header = `recipe "site" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ id = var.id })
  supports "debian" { id = "debian" }
}
variable "id" {
  type    = string
  default = "a"
}
`

// files is a recipe with its assets.
type files map[string]string

// given are a recipe and the values for its variables, in the form "name=value".
type given struct {
	recipe files
	vars   []string
	// open loads the recipe in the place of files.
	open func(*rig) interpreter.Request
}

// a is a recipe given with values.
func a(body string, vars ...string) given {
	return given{recipe: files{"recipe.hcl": text(body)}, vars: vars}
}

// nothing is no recipe: the one installed is meant.
var nothing = given{}

// rig is a host and an interpreter on it.
type rig struct {
	testing.TB
	*laws.Rig
	// tune changes the request, nil for not at all.
	tune func(*interpreter.Request)
}

func newRig(t testing.TB, o memory.Options) *rig {
	return &rig{TB: t, Rig: laws.New(o, builtins.Vocabulary())}
}

// request makes a request of a recipe; a recipe with faults fails the test.
func (r *rig) request(g given) interpreter.Request {
	r.Helper()
	var req interpreter.Request
	if g.open != nil {
		req = g.open(r)
	}
	if g.recipe != nil {
		req = r.parse(g.recipe)
	}
	for _, v := range g.vars {
		name, value, _ := strings.Cut(v, "=")
		req.Given = append(req.Given, eval.Given{Strength: eval.FromFlag, Name: name, Text: []byte(value)})
	}
	if r.tune != nil {
		r.tune(&req)
	}
	return req
}

// parsed are requests by the texts of their recipes, which are read once: the
// tests run the same recipes thousands of times.
var parsed sync.Map

func (r *rig) parse(recipe files) interpreter.Request {
	r.Helper()
	key := fmt.Sprint(recipe)
	if req, ok := parsed.Load(key); ok {
		return req.(interpreter.Request)
	}
	fsys := fstest.MapFS{}
	for name, text := range recipe {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	req := r.load(eval.Tree("test:", fsys, "."), eval.StandardLoader{})
	parsed.Store(key, req)
	return req
}

func (r *rig) load(src eval.Source, loader eval.Loader) (req interpreter.Request) {
	r.Helper()
	req.Bundle = interpreter.NewBundle()
	recipe, diags := eval.Load(req.Bundle.Source(src), builtins.Vocabulary(), req.Bundle.Loader(loader), "")
	if diags.HasErrors() {
		r.Fatal(diags)
	}
	req.Recipe = recipe
	return req
}

// verb is a command of the interpreter.
type verb = laws.Verb

var (
	apply  verb = (*interpreter.Interpreter).Apply
	ensure verb = (*interpreter.Interpreter).Ensure
	reset  verb = (*interpreter.Interpreter).Reset
	plan   verb = (*interpreter.Interpreter).Plan
	verify verb = (*interpreter.Interpreter).Verify
	adopt  verb = (*interpreter.Interpreter).Adopt
)

// run runs a command.
func (r *rig) run(do verb, g given) (interpreter.Outcome, error) {
	r.Helper()
	return r.Run(do, r.request(g))
}

// must runs a command that succeeds.
func (r *rig) must(do verb, g given) interpreter.Outcome {
	r.Helper()
	out, err := r.run(do, g)
	if err != nil {
		r.Fatalf("it failed: %v", err)
	}
	return out
}

// fails runs a command that fails with an error of type E and a text.
func fails[E error](r *rig, do verb, g given, parts ...string) E {
	r.Helper()
	_, err := r.run(do, g)
	e, ok := errors.AsType[E](err)
	if !ok {
		r.Fatalf("error %T %v, want %T", err, err, e)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			r.Errorf("error %q does not say %q", err, part)
		}
	}
	return e
}

// status is what the status command sees.
func (r *rig) status() interpreter.Status {
	r.Helper()
	s, err := r.Interpreter().Status(context.Background(), interpreter.Request{})
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// record is what stands on the host.
func (r *rig) record() *record.Record {
	r.Helper()
	rec, err := r.Store().Load(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	return rec
}

// read is the text of a file, "(absent)" when it is not there.
func (r *rig) read(name string) string {
	r.Helper()
	if _, err := host.Lstat(r.Host().Files, name); host.Absent(err) {
		return "(absent)"
	}
	b, err := thing.ReadAll(r.Host().Files, name)
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// put writes a file behind the interpreter's back.
func (r *rig) put(name, text string) {
	r.Helper()
	f := r.Host().Files
	r.ok(host.MakeParents(f, name, 0o755))
	r.ok(host.Replace(f, name, host.Content{Bytes: []byte(text), Mode: 0o644}))
}

func (r *rig) remove(name string) {
	r.Helper()
	r.ok(r.Host().Files.RemoveAll(name))
	r.ok(host.SyncDir(r.Host().Files, path.Dir(name)))
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) inode(name string) uint64 {
	r.Helper()
	info, err := host.Lstat(r.Host().Files, name)
	r.ok(err)
	return host.StatOf(info).Ino
}

func (r *rig) unit(name string) host.UnitState {
	r.Helper()
	u, err := r.Host().Units.Unit(context.Background(), name)
	r.ok(err)
	return u
}

func (r *rig) job(verb host.JobVerb, unit string) {
	r.Helper()
	r.ok(r.Host().Units.Run(context.Background(), verb, unit))
}

// want compares a text of the host.
func (r *rig) want(name, text string) {
	r.Helper()
	if got := r.read(name); got != text {
		r.Errorf("%s holds %q, want %q", name, got, text)
	}
}

// same says whether the host is as it was.
func (r *rig) same(before map[string]memory.Entry) {
	r.Helper()
	if diff := memory.Difference(before, r.Standing()); len(diff) > 0 {
		r.Errorf("the host differs: %v", diff)
	}
}

// jobs lists the jobs of units of the last run.
func (r *rig) jobs() (list []string) {
	for _, e := range r.Plan.Log() {
		if strings.HasPrefix(e.Kind, "unit ") || strings.HasPrefix(e.Kind, "queue ") || e.Kind == "reload" {
			list = append(list, strings.TrimPrefix(e.Kind, "unit ")+" "+e.Name)
		}
	}
	return list
}

// at is the place of the first effect that match is true for, -1 if there is
// none.
func (r *rig) at(match func(fault.Effect) bool) int {
	return slices.IndexFunc(r.Plan.Log(), match)
}

// warned lists the warnings of the last run's steps.
func (r *rig) warned() (list []string) {
	for _, e := range r.Events {
		if e.Kind == walk.Diagnosed {
			list = append(list, e.Address+": "+e.Warning.Summary+": "+e.Warning.Detail)
		}
	}
	return list
}

// list compares lists.
func (r *rig) list(got []string, want ...string) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Errorf("got  %q\nwant %q", got, want)
	}
}
