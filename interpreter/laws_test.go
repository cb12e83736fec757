package interpreter_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
	"hostler/recipes"
)

// scenario is a recipe on a host, and its next version.
type scenario struct {
	name string
	opts func(testing.TB) memory.Options
	v1   given
	v2   *given
	// every n-th point is tried; 1 is all.
	crash, power, errno int
}

func (s scenario) rig(t testing.TB) *rig {
	return newRig(t, s.opts(t))
}

// final is what counts about a host in the end: files, claims with their
// origins, and what runs.
type final struct {
	files  map[string]memory.Entry
	claims []string
	phase  string
}

// end looks at a host. What is remembered of the way there is left out.
func (r *rig) end() (f final) {
	f.files = r.Snapshot("/run", "/proc", "/sys", "/dev", record.Dir, "/var/lib/machines/kube1/run")
	rec, err := r.store().Load(context.Background())
	if errors.Is(err, record.ErrAbsent) {
		f.phase = "absent"
		return f
	}
	r.ok(err)
	f.phase = string(rec.Phase)
	for _, c := range rec.Claims {
		if !record.HoldsRecord(c.Thing) {
			f.claims = append(f.claims, fmt.Sprintf("%s %s %s %v", c.Thing, c.Origin.Kind, c.Origin.Backup, c.Origin.State))
		}
	}
	for _, name := range []string{rec.Applied, rec.Target} {
		if _, err := r.store().LoadState(context.Background(), name); err != nil {
			f.claims = append(f.claims, "state "+err.Error())
		}
	}
	return f
}

// differs says in what two hosts differ, "" if they do not.
func (f final) differs(g final) string {
	var list []string
	if f.phase != g.phase {
		list = append(list, "phase "+f.phase+", want "+g.phase)
	}
	list = append(list, memory.Difference(g.files, f.files)...)
	for _, c := range f.claims {
		if !slices.Contains(g.claims, c) {
			list = append(list, "claim "+c)
		}
	}
	for _, c := range g.claims {
		if !slices.Contains(f.claims, c) {
			list = append(list, "no claim "+c)
		}
	}
	return strings.Join(list, ", ")
}

// TestLaws: a second run changes nothing, a plan is what apply does, an update
// prunes to the same host, and a reset gives the host back.
func TestLaws(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			r := s.rig(t)
			r.planned(s.v1)
			r.quiet(s.v1)
			first := r.end()
			if s.v2 != nil {
				r.planned(*s.v2)
				r.quiet(*s.v2)
				r.planned(s.v1)
				if diff := r.end().differs(first); diff != "" {
					t.Errorf("there and back again: %s", diff)
				}
			}
			r.must(plan, s.v1)
			r.must(reset, nothing)
			r.same(r.before)
			r.must(reset, nothing) // H33
			r.same(r.before)
		})
	}
}

// planned plans, applies, and compares what was done with what was foreseen.
func (r *rig) planned(g given) {
	r.Helper()
	r.must(plan, g)
	if len(r.plan.Log()) > 0 {
		r.Errorf("a plan has effects: %v", r.plan.Log())
	}
	planned := actions(r.events)
	r.must(apply, g)
	done := actions(r.events)
	for address, action := range planned {
		if action != "unknown" && done[address] != action {
			r.Errorf("%s: %q was foreseen and %q was done", address, action, done[address])
		}
	}
	for address, action := range done {
		if planned[address] == "" {
			r.Errorf("%s: %q was done and nothing foreseen", address, action)
		}
	}
	if before, after := order(planned), order(done); len(before) != len(after) {
		r.Errorf("foreseen %v, done %v", before, after)
	}
}

// actions are what the steps of a walk did, by address and place in the order.
func actions(events []walk.Event) map[string]string {
	all := map[string]string{}
	for _, e := range events {
		if e.Kind == walk.StepFinished {
			all[fmt.Sprintf("%03d %s", len(all), e.Address)] = string(e.Change.Action)
		}
	}
	return all
}

func order(actions map[string]string) []string { return slices.Sorted(maps.Keys(actions)) }

// quiet runs a recipe again: nothing may happen.
func (r *rig) quiet(g given) {
	r.Helper()
	before := r.inode(record.File)
	for _, do := range []verb{apply, ensure} {
		r.must(do, g)
		if list := r.effects(); len(list) > 0 {
			r.Errorf("a second run has effects: %v", list)
		}
		if list := r.changed(); len(list) > 0 {
			r.Errorf("a second run changes %v", list)
		}
	}
	if after := r.inode(record.File); after != before {
		r.Error("the record was written again")
	}
	out := r.must(verify, nothing)
	if len(out.Drift) > 0 || len(r.changed()) > 0 {
		r.Errorf("there is drift: %v, %v", out.Drift, r.changed())
	}
}

// every asks for all points of all recipes, which takes long.
var every = flag.Bool("every", false, "let runs go wrong at every effect in every way, and not at a sample for large recipes")

// errnos are the faults of the kernel that are tried.
var errnos = []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EBUSY, syscall.EINTR}

// TestEveryEffect lets a run go wrong at its every effect, in every way, and
// wants the same host in the end. It says how many points it tried.
func TestEveryEffect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // there is much to forget
	total := 0
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			m := &misery{TB: t, scenario: s, tried: map[string]int{}}
			m.apply()
			m.update()
			m.reset()
			t.Logf("%s: %d effects of apply, points tried: %v", s.name, m.effects, m.tried)
			for _, n := range m.tried {
				total += n
			}
		})
	}
	t.Logf("%d points tried", total)
}

// misery lets the runs of a scenario go wrong.
type misery struct {
	testing.TB
	scenario
	tried   map[string]int
	effects int
}

// way is one way in which a run goes wrong at its n-th effect.
type way struct {
	name  string
	every int
	plan  func(r *rig, n int) *fault.Plan
	died  func(r *rig)
	// survived says that the run goes on after the fault.
	survived bool
}

func (m *misery) ways() []way {
	ways := []way{
		{"crash before", m.crash, func(_ *rig, n int) *fault.Plan { return fault.CrashAt(n) }, (*rig).Crash, false},
		{"crash after", m.crash, func(_ *rig, n int) *fault.Plan { return fault.CrashAfter(n) }, (*rig).Crash, false},
		{"power loss, most lost", m.power, powerLoss(memory.LoseMost), nil, false},
		{"power loss, most kept", m.power, powerLoss(memory.KeepMost), nil, false},
		{"power loss, some lost", m.power, powerLoss(some()), nil, false},
	}
	for i, errno := range errnos {
		ways = append(ways,
			way{errno.Error(), m.errno, func(_ *rig, n int) *fault.Plan { return fault.FailAt(n, errno) }, nil, true},
			way{errno.Error() + " from then on", m.errno * len(errnos), func(_ *rig, n int) *fault.Plan { return fault.FailAt(n+i, errno).From() }, nil, true})
	}
	return append(ways, way{"done and EIO", m.errno, func(_ *rig, n int) *fault.Plan { return fault.FailAfter(n, syscall.EIO) }, nil, true})
}

// powerLoss is a plan in which the power goes at the n-th effect.
func powerLoss(choose func(int) int) func(*rig, int) *fault.Plan {
	return func(r *rig, n int) *fault.Plan {
		return fault.HookAt(n, func(e fault.Effect) {
			r.PowerLoss(choose)
			panic(&fault.Crash{Effect: e})
		})
	}
}

// some answers differently from question to question, the same every time.
func some() func(int) int {
	n := 0
	return func(ways int) int {
		n = n*31 + 7
		return (n >> 3 & 0xffff) % ways
	}
}

// each runs a scene for the points of every way, of faults that a run survives
// only every thin-th. Ways begin at different points, so that together they see
// more.
func (m *misery) each(what string, effects, thin int, scene func(w way, n int) string) {
	m.Helper()
	for i, w := range m.ways() {
		step, first := w.every, 1
		if w.survived {
			step *= thin
		}
		if *every {
			step = 1
		}
		if step > 1 {
			first = 1 + i*7%step
		}
		for n := first; n <= effects; n += step {
			m.tried[what]++
			if bad := scene(w, n); bad != "" {
				m.Errorf("%s, %s at %d: %s", what, w.name, n, bad)
				break // the next points will say the same
			}
		}
	}
}

// gowrong runs a command that goes wrong and says where.
func (r *rig) gowrong(w way, n int, do verb, g given) string {
	r.Helper()
	r.plan = w.plan(r, n)
	r.Memory.ResetEffects()
	var err error
	c := fault.Recover(func() { _, err = r.run(do, g) })
	log := r.plan.Log()
	if w.died != nil {
		w.died(r)
	}
	r.plan = fault.Count()
	at := "nowhere"
	if n <= len(log) {
		at = log[n-1].String()
	}
	return fmt.Sprintf("at %s (%v, %v)", at, c != nil, err)
}

// count is the number of effects of a run without faults.
func (r *rig) count(do verb, g given) int {
	r.Helper()
	r.must(do, g)
	return len(r.plan.Log())
}

func (m *misery) apply() {
	clean := m.rig(m)
	m.effects = clean.count(apply, m.v1)
	want := clean.end()
	m.each("apply", m.effects, 1, func(w way, n int) string {
		r := m.rig(m)
		at := r.gowrong(w, n, apply, m.v1)
		if _, err := r.run(ensure, m.v1); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if diff := r.end().differs(want); diff != "" {
			return at + ", in the end: " + diff
		}
		return ""
	})
	m.each("apply, then reset", m.effects, 4, func(w way, n int) string {
		r := m.rig(m)
		at := r.gowrong(w, n, apply, m.v1)
		if _, err := r.run(reset, nothing); err != nil {
			return fmt.Sprintf("%s, then reset fails: %v", at, err)
		}
		if diff := memory.Difference(r.before, r.host()); len(diff) > 0 {
			return fmt.Sprintf("%s, after a reset: %v", at, diff)
		}
		return ""
	})
}

func (m *misery) update() {
	if m.v2 == nil {
		return
	}
	clean := m.rig(m)
	clean.must(apply, m.v1)
	old := clean.end()
	effects := clean.count(apply, *m.v2)
	want := clean.end()
	m.each("update", effects, 2, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		before := r.record().Applied
		at := r.gowrong(w, n, apply, *m.v2)
		if _, err := r.run(ensure, *m.v2); err != nil {
			return fmt.Sprintf("%s, then ensure fails: %v", at, err)
		}
		if r.record().Applied == before {
			if diff := r.end().differs(old); diff != "" {
				return at + ", back at the old version: " + diff
			}
			r.must(apply, *m.v2)
		}
		if diff := r.end().differs(want); diff != "" {
			return at + ", in the end: " + diff
		}
		return ""
	})
}

func (m *misery) reset() {
	clean := m.rig(m)
	clean.must(apply, m.v1)
	effects := clean.count(reset, nothing)
	m.each("reset", effects, 1, func(w way, n int) string {
		r := m.rig(m)
		r.must(apply, m.v1)
		at := r.gowrong(w, n, reset, nothing)
		if _, err := r.run(reset, nothing); err != nil {
			return fmt.Sprintf("%s, then reset fails: %v", at, err)
		}
		if diff := memory.Difference(r.before, r.host()); len(diff) > 0 {
			return fmt.Sprintf("%s, in the end: %v", at, diff)
		}
		return ""
	})
}

// TestEveryPowerLoss takes the power away at every effect of a small run, with
// every state of the disk that a journaled file system may be found in.
func TestEveryPowerLoss(t *testing.T) {
	g := a("write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"one\"\n replaces_foreign = true\n}\n")
	opts := memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs"}}}
	clean := newRig(t, opts)
	effects := clean.count(apply, g)
	want, points := clean.end(), 0
	for n := 1; n <= effects; n++ {
		memory.EveryChoice(func(choose func(int) int) {
			points++
			r := newRig(t, opts)
			w := way{plan: powerLoss(choose)}
			at := r.gowrong(w, n, apply, g)
			if got := r.read("/etc/x"); got != "theirs" && got != "one" {
				t.Fatalf("%s: half a file: %q", at, got)
			}
			if _, err := r.run(ensure, g); err != nil {
				t.Fatalf("%s, then ensure fails: %v", at, err)
			}
			if diff := r.end().differs(want); diff != "" {
				t.Fatalf("%s, in the end: %s", at, diff)
			}
		})
	}
	t.Logf("%d effects, %d states tried", effects, points)
}

// scenarios are the recipes that the laws are held against.
func scenarios(t testing.TB) []scenario {
	all := []scenario{small(), middle(), richScenario(t)}
	return append(all, shipped(t)...)
}

func small() scenario {
	const v1 = `
write_file_if_changed "x" {
  path             = "/etc/x"
  content          = "one\n"
  replaces_foreign = true
}
write_file_if_changed "y" {
  path    = "/etc/y.d/y"
  content = "one\n"
}
`
	v2 := a(strings.ReplaceAll(v1, "one", "two"))
	return scenario{
		name: "small", v1: a(v1), v2: &v2, crash: 1, power: 3, errno: 5,
		opts: func(testing.TB) memory.Options {
			return memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs", Mode: 0o640, GID: 4, Xattrs: map[string]string{"user.a": "b"}}}}
		},
	}
}

func middle() scenario {
	const v1 = `
write_file_if_changed "conf" {
  path    = "/etc/a/conf"
  content = "one\n"
}
directory "d" { path = "/var/lib/a" }
symlink "l" {
  path   = "/etc/a/link"
  target = "conf"
}
systemd_unit "a.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=V=one\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
}
systemd_unit "theirs.service" {
  drop_in "10-a.conf" { content = "[Service]\nNice=1\n" }
  state = "started"
}
restart_on_change "a.service" { watch = [write_file_if_changed.conf, systemd_unit["a.service"]] }
restart_on_change "theirs.service" { watch = [systemd_unit["theirs.service"]] }
reset_step "r" {
  remove_path {
    path      = "/var/lib/left"
    recursive = true
  }
}
`
	v2 := a(strings.NewReplacer("one", "two", "symlink \"l\" {\n  path   = \"/etc/a/link\"\n  target = \"conf\"\n}\n", "", "Nice=1", "Nice=2").Replace(v1))
	return scenario{
		name: "middle", v1: a(v1), v2: &v2, crash: 3, power: 11, errno: 31,
		opts: func(testing.TB) memory.Options {
			return memory.Options{Units: []memory.Unit{{Name: "theirs.service", Enabled: true, Running: true}}}
		},
	}
}

func richScenario(t testing.TB) scenario {
	v2 := given{recipe: recipeFile(t, "rich.hcl",
		`default = "info"`, `default = "debug"`, `["one", "two"]`, `["two", "three"]`, `absent "old"`, `directory "old"`,
		`"/etc/cron.d/old"`, `"/etc/cron.d/new"`, `[Service]\nNice=5`, `[Service]\nNice=6`,
	), vars: []string{"token=other"}}
	return scenario{
		name: "rich", v1: given{recipe: recipeFile(t, "rich.hcl"), vars: []string{"token=secret"}}, v2: &v2, opts: rich, crash: 37, power: 89, errno: 307,
	}
}

// shipped are the recipes under recipes and examples.
func shipped(t testing.TB) (all []scenario) {
	for _, top := range []string{"../recipes", "../examples"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == eval.MainFile {
				all = append(all, shippedAs(t, filepath.Dir(name)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inputs are the values for the variables of the recipes in the tree, by
// directory; a new recipe needs a line here.
var inputs = map[string][]string{
	"../recipes/debian/12/nspawn-worker": {"rootfs_image=/srv/one.tar", "nameservers=[\"192.0.2.53\"]"},
	"../examples/build-host":             {"image=/srv/one.tar"},
	"../examples/metrics-site":           {"site=west-2", "token=secret"},
}

func shippedAs(t testing.TB, dir string) scenario {
	vars, ok := inputs[dir]
	if !ok {
		t.Errorf("%s: there are no inputs for it in laws_test.go", dir)
	}
	return scenario{
		name: filepath.Base(dir), opts: kitchen, crash: 31, power: 83, errno: 311,
		v1: given{vars: vars, open: func(r *rig) interpreter.Request {
			src, err := eval.Open(dir)
			r.ok(err)
			return r.load(src, eval.StandardLoader{Shipped: recipes.Open})
		}},
	}
}

// kitchen is a Debian 12 with everything that the recipes in the tree ask for.
func kitchen(t testing.TB) memory.Options {
	return memory.Options{
		Executables: []string{"apt-get", "/usr/sbin/nft", "machinectl", "journalctl"},
		Files: map[string]memory.File{
			"/srv/one.tar":                        {Content: image(t, nil)},
			"/etc/motd":                           {Content: "welcome\n"},
			"/etc/sysctl.d/10-theirs.conf":        {Content: "kernel.panic = 1\n"},
			"/etc/systemd/journald.conf":          {Content: "[Journal]\n"},
			"/lib/modules/6.1.0/modules.builtin":  {Content: ""},
			"/etc/apt/apt.conf.d/20auto-upgrades": {Content: "x \"1\";\n"},
		},
		Units: []memory.Unit{
			{Name: "systemd-journald.service", Running: true},
			{Name: "nftables.service"},
		},
		Kernel: memory.Kernel{Sysctl: map[string]string{"net.ipv4.ip_forward": "0", "vm.swappiness": "60"}},
	}
}
