package walk_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

var background = context.Background()

// scene is a host on which a test walks recipes, as a run would that keeps the
// record, and nothing else, between walks.
type scene struct {
	testing.TB
	*memory.Memory
	// extra are block types beside those of the language.
	extra  []*block.Type
	rec    *record.Record
	plan   *fault.Plan
	events []walk.Event
	// applied is what was driven to before, earlier a target that was not
	// reached.
	applied, earlier []block.Placed
	key              record.Key
	// tune changes what is walked, nil for not at all.
	tune func(*walk.Input)
	wrap func(host.Host) host.Host
}

func newScene(t testing.TB, o memory.Options) *scene {
	s := &scene{TB: t, Memory: memory.New(o), key: record.Key("0123456789abcdef0123456789abcdef")}
	s.rec = &record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: "r"}, Fingerprint: "f"}
	return s
}

func (s *scene) vocabulary() block.Vocabulary {
	v := builtins.Vocabulary()
	v.Types = append(slices.Clone(v.Types), s.extra...)
	return v
}

const header = `recipe "r" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({})
  supports "debian" { id = "debian" }
}
`

// steps evaluates the body of a recipe for the host as it is now.
func (s *scene) steps(body string) []block.Placed {
	s.Helper()
	src := eval.Tree("test:", fstest.MapFS{"recipe.hcl": {Data: []byte(header + body)}}, ".")
	r, diags := eval.Load(src, s.vocabulary(), eval.StandardLoader{}, "")
	if diags.HasErrors() {
		s.Fatal(diags)
	}
	facts, err := host.ReadFacts(background, s.Host().View())
	s.ok(err)
	p, diags := r.Evaluate(eval.Inputs{}, eval.Environment{Facts: facts, Keyed: s.key.Keyed, DeferSensitive: !s.Host().Identity.Live,
		Ownership: &eval.Ownership{InstallationID: "i"}})
	if diags.HasErrors() {
		s.Fatal(diags)
	}
	return p.Steps
}

// host is the host with its effects counted.
func (s *scene) host() host.Host {
	if s.plan == nil || len(s.plan.Log()) > 0 {
		s.plan = fault.Count()
	}
	h := s.Host()
	if s.wrap != nil {
		h = s.wrap(h)
	}
	return fault.Wrap(h, s.plan)
}

func (s *scene) input(h host.Host) walk.Input {
	s.events = nil
	in := walk.Input{
		Applied: s.applied, Earlier: s.earlier, Host: h, Store: record.NewStore(h, rand.NewChaCha8([32]byte{})), Record: s.rec, Keyed: s.key.Keyed,
		Restore: func(st block.Stored) (block.Placed, error) { return s.vocabulary().Restore(st, block.Setting{}) },
		Emit:    func(e walk.Event) { s.events = append(s.events, e) },
	}
	return in
}

// try drives the host to a recipe.
func (s *scene) try(body string) (walk.Result, error) {
	s.Helper()
	steps := s.steps(body)
	in := s.input(s.host())
	dropped, err := s.rec.Retarget(steps, s.key.Keyed)
	s.ok(err)
	in.Desired, in.Dropped = steps, dropped
	if s.tune != nil {
		s.tune(&in)
	}
	result, err := walk.Drive(background, in)
	if err == nil {
		s.applied, s.earlier, s.rec.Phase = steps, nil, record.Complete
		s.ok(in.Store.Save(background, s.rec))
	} else {
		s.earlier, s.rec.Phase = steps, record.Installing
	}
	return result, err
}

// drive drives the host to a recipe, which succeeds.
func (s *scene) drive(body string) walk.Result {
	s.Helper()
	result, err := s.try(body)
	if err != nil {
		s.Fatalf("it failed: %v", err)
	}
	return result
}

// fails drives the host to a recipe, which fails with these words.
func (s *scene) fails(body string, words ...string) error {
	s.Helper()
	_, err := s.try(body)
	if err == nil {
		s.Fatal("it did not fail")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			s.Errorf("error %q does not say %q", err, word)
		}
	}
	return err
}

// foresee plans a recipe.
func (s *scene) foresee(body string) walk.Result {
	s.Helper()
	steps := s.steps(body)
	in := s.input(shadow.Over(s.Host().View()).Host())
	rec := s.copy()
	dropped, err := rec.Retarget(steps, s.key.Keyed)
	s.ok(err)
	in.Desired, in.Dropped, in.Record, in.Shadow = steps, dropped, rec, true
	result, err := walk.Drive(background, in)
	s.ok(err)
	return result
}

// copy is the record as it stands on the host, or an empty one.
func (s *scene) copy() *record.Record {
	rec, err := record.NewStore(s.Host(), nil).Load(background)
	if errors.Is(err, record.ErrAbsent) {
		return &record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: "r"}, Fingerprint: "f"}
	}
	s.ok(err)
	return rec
}

// reset walks the empty recipe.
func (s *scene) reset(change func(*walk.Input)) (walk.Result, error) {
	in := s.input(s.host())
	in.Begin = func(ctx context.Context) error {
		s.rec.Phase = record.Resetting
		return in.Store.Save(ctx, s.rec)
	}
	if change != nil {
		change(&in)
	}
	return walk.Reset(background, in)
}

func (s *scene) mustReset() walk.Result {
	s.Helper()
	result, err := s.reset(nil)
	if err != nil {
		s.Fatalf("the reset failed: %v", err)
	}
	return result
}

// restart forgets all but what stands on the host, as a new process does.
func (s *scene) restart() { s.rec = s.copy() }

func (s *scene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) read(name string) string {
	s.Helper()
	if _, err := host.Lstat(s.Host().Files, name); host.Absent(err) {
		return "(absent)"
	}
	b, err := thing.ReadAll(s.Host().Files, name)
	s.ok(err)
	return string(b)
}

func (s *scene) want(name, text string) {
	s.Helper()
	if got := s.read(name); got != text {
		s.Errorf("%s holds %q, want %q", name, got, text)
	}
}

func (s *scene) put(name, text string) {
	s.Helper()
	s.ok(host.MakeParents(s.Host().Files, name, 0o755))
	s.ok(host.Replace(s.Host().Files, name, host.Content{Bytes: []byte(text), Mode: 0o644}))
}

func (s *scene) mode(name string) string {
	s.Helper()
	info, err := host.Lstat(s.Host().Files, name)
	s.ok(err)
	return thing.Mode(info.Mode())
}

func (s *scene) unit(name string) host.UnitState {
	s.Helper()
	u, err := s.Host().Units.Unit(background, name)
	s.ok(err)
	return u
}

// did lists what the steps of the last walk did, in order.
func (s *scene) did() (list []string) {
	for _, e := range s.events {
		if e.Kind == walk.StepFinished && e.Change.Needed() && e.Err == nil {
			list = append(list, string(e.Change.Action)+" "+e.Address)
		}
	}
	return list
}

// warned lists the warnings of the last walk.
func (s *scene) warned() (list []string) {
	for _, e := range s.events {
		if e.Kind == walk.Diagnosed {
			list = append(list, e.Address+": "+e.Warning.Summary+": "+e.Warning.Detail)
		}
	}
	return list
}

// jobs lists what the last walk asked of service managers.
func (s *scene) jobs() (list []string) {
	for _, e := range s.plan.Log() {
		if verb, ok := strings.CutPrefix(e.Kind, "unit "); ok {
			list = append(list, verb+" "+e.Name)
		} else if e.Kind == "reload" {
			list = append(list, "reload "+e.Machine)
		}
	}
	return list
}

// place is where in the effects of the last walk one stands, -1 for nowhere.
func (s *scene) place(kind, name string) int {
	return slices.IndexFunc(s.plan.Log(), func(e fault.Effect) bool { return e.Kind == kind && e.Name == name })
}

func (s *scene) list(got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("got  %q\nwant %q", got, want)
	}
}

func (s *scene) debts() []block.Debt {
	s.Helper()
	debts, err := record.NewStore(s.Host(), nil).Debts(background)
	s.ok(err)
	return debts
}

func (s *scene) claims() (keys []string) {
	for _, c := range s.rec.Claims {
		keys = append(keys, string(c.Thing))
	}
	return keys
}

func file(label, path, content, more string) string {
	return "write_file_if_changed \"" + label + "\" {\n path = \"" + path + "\"\n content = \"" + content + "\"\n" + more + "}\n"
}

// service is a unit with one value in it, started and watched.
func service(name, value, watch string) string {
	return `
systemd_unit "` + name + `" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=V=` + value + `\n[Install]\nWantedBy=multi-user.target\n"
  state   = "started"
}
restart_on_change "` + name + `" { watch = [systemd_unit["` + name + `"]` + watch + `] }
`
}

// image is a tar with a small system.
func image(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name, text string, typ byte) {
		h := &tar.Header{Name: name, Typeflag: typ, Mode: 0o755, Size: int64(len(text))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"etc/", "etc/systemd/", "etc/systemd/system/", "usr/", "usr/bin/", "run/"} {
		add(dir, "", tar.TypeDir)
	}
	for _, tool := range []string{"sh", "true", "false", "sleep"} {
		add("usr/bin/"+tool, "x", tar.TypeReg)
	}
	add("etc/os-release", "ID=one\n", tar.TypeReg)
	add("etc/shipped.conf", "shipped\n", tar.TypeReg)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
