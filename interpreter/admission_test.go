package interpreter_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

const (
	one   = "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"one\"\n}\n"
	two   = "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"two\"\n}\n"
	three = "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"three\"\n}\n"
	// more is a step that comes after.
	more = "write_file_if_changed \"z\" {\n path = \"/etc/z\"\n content = \"z\"\n}\n"
)

// failing is a plan in which the file of more cannot be written.
func failing() *fault.Plan {
	return fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.z") })
}

// unfinished is a rig whose first installation failed.
func unfinished(t testing.TB, body string) *rig {
	t.Helper()
	r := newRig(t, memory.Options{})
	r.plan = failing()
	fails[*walk.StepError](r, apply, a(body+more), "no space left")
	return r
}

// updating is a rig whose update from one to two failed.
func updating(t testing.TB) *rig {
	t.Helper()
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.plan = failing()
	fails[*walk.StepError](r, apply, a(two+more), "no space left")
	return r
}

// TestR046R047R054Fresh: without a record a clean host is installed on; one
// that is not clean is refused, naming what is there, and nothing is written.
func TestR046R047R054Fresh(t *testing.T) {
	for name, do := range map[string]verb{"apply": apply, "ensure": ensure} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			out := r.must(do, a(one))
			if out.Word != "ok" || out.Phase != "complete" || out.Identity.InstallationID == "" {
				t.Errorf("outcome %+v", out)
			}
			r.want("/etc/x", "one")

			r = newRig(t, memory.Options{Files: map[string]memory.File{"/etc/x": {Content: "theirs"}}})
			out, err := r.run(do, a(one))
			foreign, ok := errors.AsType[*interpreter.ForeignError](err)
			if !ok || len(foreign.Things) != 1 || foreign.Things[0].Thing != "path:/etc/x" || foreign.Things[0].Address != "write_file_if_changed.x" {
				t.Fatalf("error %v", err)
			}
			if out.Phase != "absent" || out.Word != "failed" {
				t.Errorf("outcome %+v", out)
			}
			r.list(r.effects())
			r.same(r.before)
		})
	}
}

// TestCleanHost: identical content, things that may be foreign, what is inside
// machines and the state of units do not make a host unclean.
func TestCleanHost(t *testing.T) {
	r := newRig(t, memory.Options{
		Files: map[string]memory.File{"/etc/x": {Content: "one", Mode: 0o600}, "/etc/f": {Content: "theirs"}, "/etc/j": {Content: "{}"}, "/etc/d": {Dir: true}},
		Units: []memory.Unit{{Name: "theirs.service", Enabled: true, Running: true}},
	})
	r.must(apply, a(one+`
write_file_if_changed "f" {
  path = "/etc/f"
  content = "ours"
  replaces_foreign = true
}
write_file_if_changed "j" {
  path = "/etc/j"
  content = "{\"a\": 1}"
  merge = "json"
}
directory "d" { path = "/etc/d" }
systemd_unit "theirs.service" {
  state = "stopped"
  enable = false
}
`))
	r.must(reset, nothing)
	r.same(r.before)
}

// TestR052InspectionFails: a host that cannot be inspected is not clean.
func TestR052InspectionFails(t *testing.T) {
	r := newRig(t, rich(t))
	r.Refuse(memory.CallRegistered, errors.New("no reply from machined"))
	_, err := r.run(apply, given{recipe: recipeFile(t, "rich.hcl")})
	if err == nil || !strings.Contains(err.Error(), "no reply from machined") {
		t.Errorf("error %v", err)
	}
	r.same(r.before)
}

// TestForeignMachine: a machine of that name that is not ours refuses.
func TestForeignMachine(t *testing.T) {
	o := rich(t)
	o.Machines = []memory.Machine{{Name: "kube1"}}
	r := newRig(t, o)
	e := fails[*interpreter.ForeignError](r, apply, given{recipe: recipeFile(t, "rich.hcl")}, "hostler adopt")
	if len(e.Things) != 1 || e.Things[0].Thing != "machine:kube1" {
		t.Errorf("foreign %+v", e.Things)
	}
}

// TestNothingGiven: without record and recipe there is nothing to do.
func TestNothingGiven(t *testing.T) {
	r := newRig(t, memory.Options{})
	for _, do := range []verb{apply, ensure, plan} {
		if _, err := r.run(do, nothing); err == nil || !strings.Contains(err.Error(), "no recipe was given") {
			t.Errorf("error %v", err)
		}
	}
	r.must(reset, nothing)
	if _, err := r.run(verify, nothing); !errors.Is(err, record.ErrAbsent) {
		t.Errorf("verify: %v", err)
	}
	r.same(r.before)
}

// TestR048Installing: an installation without an earlier state is driven to
// what is given now; the id stays (R018), and every step is looked at (R057,
// R058).
func TestR048R018Installing(t *testing.T) {
	for name, do := range map[string]verb{"apply": apply, "ensure": ensure} {
		t.Run(name, func(t *testing.T) {
			r := unfinished(t, one)
			id := r.record().ID
			if r.record().Phase != record.Installing || r.record().Applied != "" || id == "" {
				t.Fatalf("record %+v", r.record())
			}
			r.put("/etc/x", "changed between attempts")
			r.must(do, a(two+more))
			r.want("/etc/x", "two")
			if rec := r.record(); rec.Phase != record.Complete || rec.ID != id || rec.Applied != rec.Target {
				t.Errorf("record %+v", rec)
			}
		})
	}
}

// TestInstallingWithoutRecipe: what is stored is evaluated again.
func TestInstallingWithoutRecipe(t *testing.T) {
	for name, do := range map[string]verb{"apply": apply, "ensure": ensure} {
		t.Run(name, func(t *testing.T) {
			r := unfinished(t, "write_file_if_changed \"x\" {\n path = \"/etc/x\"\n content = \"on ${host.hostname}\"\n}\n")
			target := r.record().Target
			r.must(do, nothing)
			r.want("/etc/x", "on host")
			r.want("/etc/z", "z")
			if rec := r.record(); rec.Applied != target || rec.Phase != record.Complete {
				t.Errorf("record %+v", rec)
			}
		})
	}
}

// TestR025OtherIdentity: another fingerprint, recipe or prefix is refused in
// every phase and changes nothing.
func TestR025OtherIdentity(t *testing.T) {
	other := given{recipe: files{"recipe.hcl": strings.Replace(text(one), `"site"`, `"another"`, 1)}}
	for name, make := range map[string]func() *rig{
		"installing": func() *rig { return unfinished(t, one) },
		"updating":   func() *rig { return updating(t) },
		"complete":   func() *rig { r := newRig(t, memory.Options{}); r.must(apply, a(one)); return r },
	} {
		r := make()
		before := r.host()
		for _, do := range []verb{apply, ensure, plan} {
			fails[*record.RefusedError](r, do, a(two, "id=b"), "fingerprint", "run hostler reset first")
			fails[*record.RefusedError](r, do, other, "recipe site is installed")
			r.tune = func(req *interpreter.Request) { req.Prefix = "/opt/elsewhere" }
			fails[*record.RefusedError](r, do, a(two), "prefix /usr/local", "/opt/elsewhere")
			r.tune = func(req *interpreter.Request) { req.Prefix = "/usr/local" } // H13
			if _, err := r.run(plan, a(one+more)); err != nil {
				t.Errorf("%s: the default prefix spelled out: %v", name, err)
			}
			r.tune = nil
		}
		r.same(before)
	}
}

// TestR010R201Healthy: a complete, healthy host gets no write: not by ensure
// whatever is given, not by apply of the same.
func TestR010R201Healthy(t *testing.T) {
	r := newRig(t, memory.Options{Network: memory.Network{HTTP: map[string]http.Handler{
		"registry.example": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }),
	}}})
	body := "require_capability \"net\" { reachable = \"https://registry.example/\" }\n" + one
	r.must(apply, a(body))
	requests := 0
	r.wrap = func(h host.Host) host.Host { h.Network = noNetwork{h.Network, &requests}; return h }
	before, inode := r.host(), r.inode(record.File)
	for name, g := range map[string]given{"the same": a(body), "nothing": nothing, "a newer one": a(body+more, "id=a")} {
		r.must(ensure, g)
		if list := r.effects(); len(list) > 0 {
			t.Errorf("ensure with %s: effects %v", name, list)
		}
	}
	r.must(apply, a(body))
	r.list(r.effects())
	r.must(apply, nothing)
	r.list(r.effects())
	if requests > 0 || r.inode(record.File) != inode {
		t.Errorf("%d requests, record written: %v", requests, r.inode(record.File) != inode)
	}
	r.same(before)
	r.want("/etc/z", "(absent)") // the stale recipe was not used
}

// noNetwork counts what asks for the network.
type noNetwork struct {
	host.Network
	asked *int
}

func (n noNetwork) Transport() http.RoundTripper {
	*n.asked++
	return n.Network.Transport()
}

// TestCapabilities: requirements that are new are asked before a complete
// installation is left; those that held are not asked again.
func TestCapabilities(t *testing.T) {
	r := newRig(t, memory.Options{Executables: []string{"tool"}})
	need := func(name string) string {
		return "require_capability \"" + name + "\" { executable = \"" + name + "\" }\n"
	}
	r.must(apply, a(need("tool")+one))
	r.remove("/usr/bin/tool")
	r.must(ensure, nothing)
	before := r.host()
	fails[*interpreter.UnmetError](r, apply, a(need("tool")+need("other")+two), "other", "nothing was changed")
	r.same(before)
	r.must(apply, a(need("tool")+two))
	r.want("/etc/x", "two")
	// All failures are reported together, wherever they stand.
	r = newRig(t, memory.Options{})
	e := fails[*interpreter.UnmetError](r, apply, a(need("b")+one+need("c")+"require_capability \"w\" {\n executable = \"d\"\n severity = \"warning\"\n}\n"))
	if len(e.Findings) != 2 {
		t.Errorf("findings %+v", e.Findings)
	}
	r.list(r.effects())
	r.same(r.before)
}

// TestWarnsOnComplete: inputs that cannot be read and a superseded identity
// only warn on a complete host.
func TestWarnsOnComplete(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.tune = func(req *interpreter.Request) {
		req.Given = append(req.Given, eval.Given{Strength: eval.FromFile, Filename: "inputs.hcl", Text: []byte("id = {")})
	}
	for _, phase := range []string{"complete", "updating"} {
		out := r.must(ensure, a(two))
		if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Inputs not readable" {
			t.Errorf("%s: warnings %v", phase, out.Warnings)
		}
		if _, err := r.run(apply, a(two)); err == nil {
			t.Errorf("%s: apply does not fail", phase)
		}
		if phase == "complete" {
			tune := r.tune
			r.tune, r.plan = nil, failing()
			fails[*walk.StepError](r, apply, a(one+more))
			r.tune = tune
		}
	}
	r.tune = func(req *interpreter.Request) { req.Recipe, req.Unreadable = nil, errors.New("recipe is damaged") }
	r.must(ensure, nothing)
	r.tune = nil
	rec := r.record()
	rec.Superseded = []string{rec.Fingerprint}
	rec.Fingerprint = "v1:sha256:moved"
	r.ok(r.store().Save(context.Background(), rec))
	out := r.must(ensure, a(one))
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Superseded identity" {
		t.Errorf("warnings %v", out.Warnings)
	}
	fails[*record.RefusedError](r, apply, a(one))
}

// TestUpdate: a deliberate change of a complete host keeps what was applied
// until it is reached; what fails can be finished by ensure, or taken back.
func TestUpdate(t *testing.T) {
	r := updating(t)
	rec := r.record()
	if rec.Phase != record.Installing || rec.Applied == "" || rec.Applied == rec.Target {
		t.Fatalf("record %+v", rec)
	}
	target, applied := rec.Target, rec.Applied
	out := r.must(ensure, a(three)) // the stored target, not what is given
	if out.Phase != "complete" || r.record().Applied != target || r.record().Previous != applied {
		t.Errorf("record %+v", r.record())
	}
	r.want("/etc/x", "two")
	r.want("/etc/z", "z")

	r = updating(t)
	previous(r)
	r.must(apply, nothing)
	r.want("/etc/x", "one")
	r.want("/etc/z", "(absent)")
	if rec := r.record(); rec.Applied != applied || rec.Target != applied || rec.Phase != record.Complete {
		t.Errorf("record %+v", rec)
	}
}

func previous(r *rig) { r.tune = func(req *interpreter.Request) { req.Previous = true } }

// TestPrevious: on a complete host it goes back to what was there before, and
// forth again.
func TestPrevious(t *testing.T) {
	r := newRig(t, memory.Options{})
	previous(r)
	if _, err := r.run(apply, a(one)); err == nil || !strings.Contains(err.Error(), "nothing to go back to") {
		t.Errorf("error %v", err)
	}
	r.tune = nil
	r.must(apply, a(one))
	previous(r)
	if _, err := r.run(apply, nothing); err == nil || !strings.Contains(err.Error(), "no earlier state") {
		t.Errorf("error %v", err)
	}
	r.tune = nil
	r.must(apply, a(two+more))
	previous(r)
	r.must(apply, nothing)
	r.want("/etc/x", "one")
	r.want("/etc/z", "(absent)")
	r.must(apply, a(three)) // what is given is not used
	r.want("/etc/x", "two")
	r.want("/etc/z", "z")
	r = unfinished(t, one)
	previous(r)
	if _, err := r.run(apply, nothing); err == nil || !strings.Contains(err.Error(), "no earlier state") {
		t.Errorf("error %v", err)
	}
}

// TestR050Resetting: nothing but reset is admitted.
func TestR050Resetting(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.plan = fault.FailAt(1, syscall.EBUSY).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/x" })
	fails[*walk.StepError](r, reset, nothing)
	before := r.host()
	for _, do := range []verb{apply, ensure, adopt, plan} {
		fails[*record.RefusedError](r, do, a(one), "a reset of this host is not finished")
	}
	r.same(before)
	if s := r.status(); s.Phase != "resetting" || len(s.Drift) > 0 {
		t.Errorf("status %+v", s)
	}
	r.must(reset, nothing)
	r.same(r.before)
}

// TestR051Unreadable: a record that cannot be read refuses all but reset.
func TestR051Unreadable(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "cut": "{\"schema_version\": 1, \"pha", "no phase": "{\"schema_version\": 1}", "another program's": "{\"version\": 4}"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(one))
			r.put(record.File, text)
			before := r.host()
			for _, do := range []verb{apply, ensure, adopt, plan} {
				fails[*record.RefusedError](r, do, a(two), "who owns this host cannot be told", "run hostler reset")
			}
			r.same(before)
			if s := r.status(); s.Phase != "unreadable" || s.Unreadable == "" {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestC74Newer: what a newer release wrote is refused by every verb that
// changes the host, reset too, with the record whole or gone.
func TestC74Newer(t *testing.T) {
	newer := func(r *rig, name string) {
		text := r.read(name)
		r.put(name, strings.ReplaceAll(strings.ReplaceAll(text, `"type_version": 1`, `"type_version": 99`), `"type_version":1`, `"type_version":99`))
	}
	for name, spoil := range map[string]func(*rig){
		"schema": func(r *rig) {
			r.put(record.File, strings.Replace(r.read(record.File), `"schema_version": 1`, `"schema_version": 2`, 1))
		},
		"claims": func(r *rig) { newer(r, record.File) },
		"unknown type": func(r *rig) {
			r.put(record.File, strings.ReplaceAll(r.read(record.File), `"write_file_if_changed"`, `"write_hologram"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(one))
			spoil(r)
			before := r.host()
			for _, do := range []verb{apply, ensure, reset, adopt} {
				fails[*record.RefusedError](r, do, a(one), "newer release", "nothing was changed")
			}
			r.same(before)
			if s := r.status(); s.Phase != "unreadable" || !strings.Contains(s.Unreadable, "newer release") {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestNewerState: so is a state with steps of a newer release, before anything
// is touched.
func TestNewerState(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	st, err := r.store().LoadState(context.Background(), r.record().Applied)
	r.ok(err)
	st.Steps[0].TypeVersion = 99
	name, err := r.store().SaveState(context.Background(), *st, nil)
	r.ok(err)
	rec := r.record()
	rec.Applied, rec.Target = name, name
	r.ok(r.store().Save(context.Background(), rec))
	before := r.host()
	for _, do := range []verb{apply, ensure} {
		fails[*block.NewerError](r, do, a(two), "newer release")
	}
	r.same(before)
	r.remove(record.File)
	fails[*record.RefusedError](r, reset, nothing, "newer release", "nothing was changed")
}

// TestDamagedState: what was applied cannot be read: ensure says what to do,
// and apply does it.
func TestDamagedState(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	name := record.StateDir + "/" + strings.TrimPrefix(r.record().Applied, "sha256:") + ".json"
	r.put(name, "{}")
	if _, err := r.run(ensure, nothing); err == nil || !strings.Contains(err.Error(), "give the recipe again with hostler apply") {
		t.Errorf("error %v", err)
	}
	if s := r.status(); s.Phase != "complete" || len(s.Warnings) != 1 {
		t.Errorf("status %+v", s)
	}
	out := r.must(apply, a(two))
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Earlier state not readable" {
		t.Errorf("warnings %v", out.Warnings)
	}
	r.must(ensure, nothing)
	r.must(reset, nothing)
	r.same(r.before)
}

// TestR011Repair: what drifted is repaired from what was applied, completion is
// committed once and only after the repair.
func TestR011R095Repair(t *testing.T) {
	r := newRig(t, memory.Options{})
	body := one + more + `
systemd_unit "a.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n"
  state   = "started"
  restart = "never"
}
`
	r.must(apply, a(body))
	inode := r.inode(record.File)
	r.put("/etc/x", "edited")
	r.job(host.JobStop, "a.service")
	out := r.must(ensure, a(two, "id=a"))
	r.want("/etc/x", "one")
	if !r.unit("a.service").Running() || len(out.Drift) != 2 || out.Phase != "complete" {
		t.Errorf("outcome %+v", out)
	}
	commits, last := 0, 0
	for i, e := range r.plan.Log() {
		switch {
		case e.Kind == "rename" && e.Name == host.TemporaryName(record.File):
			commits, last = commits+1, i
		case !strings.HasPrefix(e.Name, record.Dir) && !strings.HasPrefix(e.Name, "/run/"):
			if last > 0 && e.Kind != "sync" {
				t.Errorf("after completion was committed: %v", e)
			}
		}
	}
	if commits != 1 || r.inode(record.File) == inode {
		t.Errorf("committed %d times", commits)
	}
}

// TestR097R215BothErrors: a repair that fails says what was found and what went
// wrong, keeps the installation complete and commits nothing.
func TestR097R215BothErrors(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	inode := r.inode(record.File)
	r.put("/etc/x", "edited")
	r.plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.x") })
	out, err := r.run(ensure, nothing)
	if err == nil || !strings.Contains(err.Error(), "content differs") || !strings.Contains(err.Error(), "no space left") || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if out.Phase != "complete" || r.inode(record.File) != inode {
		t.Errorf("outcome %+v", out)
	}
	r.must(ensure, nothing)
	r.want("/etc/x", "one")
}

// TestR098Customised: where the recipe says that edits stay, they stay, and the
// re-check accepts them.
func TestR098Customised(t *testing.T) {
	body := strings.Replace(one, "content", "on_drift = \"report\"\n content", 1)
	r := newRig(t, memory.Options{})
	r.must(apply, a(body))
	r.put("/etc/x", "customised")
	for range 2 {
		out := r.must(ensure, nothing)
		r.want("/etc/x", "customised")
		r.list(r.effects())
		if len(out.Drift) != 1 || len(r.warned()) != 1 {
			t.Errorf("drift %v, warnings %v", out.Drift, r.warned())
		}
	}
	r.must(apply, a(body))
	r.want("/etc/x", "customised")
	r.must(apply, a(body+more))
	r.want("/etc/x", "customised")
	if r.record().Phase != record.Complete {
		t.Errorf("phase %s", r.record().Phase)
	}
}

// TestR009ThroughTheStore: what one run saves the next one reads, with nothing
// shared in memory; unknown fields survive.
func TestR009ThroughTheStore(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.put(record.File, strings.Replace(r.read(record.File), "{", "{\n  \"later\": {\"x\": 1},", 1))
	r.ok(r.Host().Files.Chmod(record.File, 0o600))
	r.must(ensure, nothing)
	r.must(apply, a(two))
	if !strings.Contains(r.read(record.File), `"later": {`) {
		t.Error("the unknown field is lost")
	}
	info, err := host.Lstat(r.Host().Files, record.File)
	r.ok(err)
	if info.Mode().Perm() != 0o600 { // R016
		t.Errorf("mode %v", info.Mode())
	}
}

// TestSecrets: nothing of a sensitive value is stored or told, and it is needed
// only where it must be written.
func TestSecrets(t *testing.T) {
	const body = "variable \"token\" {\n type = string\n sensitive = true\n}\nwrite_file_if_changed \"t\" {\n path = \"/etc/t\"\n content = \"token=${var.token}\"\n}\n" + one
	r := newRig(t, memory.Options{})
	r.must(apply, a(body, "token=canary-4711"))
	for name, e := range r.Snapshot() {
		if e.Kind == "file" && name != "/etc/t" && strings.Contains(r.read(name), "canary") {
			t.Errorf("%s holds the secret", name)
		}
	}
	r.must(ensure, nothing) // intact: it is not needed
	r.list(r.effects())
	r.put("/etc/x", "edited")
	r.remove("/etc/t")
	_, err := r.run(ensure, nothing)
	needs, ok := errors.AsType[*walk.NeedsInputError](err)
	if !ok || len(needs.Variables) != 1 || needs.Variables[0] != "token" || strings.Contains(err.Error(), "canary") {
		t.Fatalf("error %v", err)
	}
	r.want("/etc/x", "one") // everything else was done
	out := r.must(ensure, a(two, "token=canary-4711"))
	r.want("/etc/t", "token=canary-4711")
	r.want("/etc/x", "one") // files given serve the sensitive variable only
	if len(out.Warnings) != 0 && !strings.Contains(out.Warnings[0].Detail, "--var") {
		t.Errorf("warnings %v", out.Warnings)
	}
}

// TestLockHeld: a lock that is held refuses at once, or is waited for (R035,
// H14); reading goes on, provisionally.
func TestLockHeld(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	release, err := r.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{PID: 42, Command: "hostler apply"})
	r.ok(err)
	for _, do := range []verb{apply, ensure, reset} {
		e := fails[*host.HeldError](r, do, a(two))
		if e.Holder == nil || e.Holder.PID != 42 {
			t.Errorf("holder %+v", e.Holder)
		}
	}
	r.tune = func(req *interpreter.Request) { req.Wait = 2 * time.Second }
	began := r.Host().Clock.Now()
	fails[*host.HeldError](r, ensure, nothing)
	if waited := r.Host().Clock.Now().Sub(began); waited < 2*time.Second || waited > 3*time.Second {
		t.Errorf("waited %s", waited)
	}
	r.tune = nil
	if out := r.must(plan, a(two)); out.Provisional == nil || out.Provisional.Holder.PID != 42 {
		t.Errorf("provisional %v", out.Provisional)
	}
	if s := r.status(); s.Provisional == nil {
		t.Error("status is not provisional")
	}
	r.ok(release())
	if out := r.must(plan, a(two)); out.Provisional != nil {
		t.Error("the plan is provisional without need")
	}
	r.must(apply, a(two))
}

// TestAllowDestroy: a running machine that the recipe drops goes only when that
// is allowed.
func TestAllowDestroy(t *testing.T) {
	full := recipeFile(t, "rich.hcl")["recipe.hcl"]
	without := given{recipe: files{"recipe.hcl": full[:strings.Index(full, "stage \"machine\"")]}}
	r := newRig(t, rich(t))
	r.must(apply, given{recipe: files{"recipe.hcl": full}})
	before := r.host()
	fails[*record.RefusedError](r, apply, without, "kube1", "--allow-destroy")
	r.same(before)
	if out := r.must(plan, without); len(out.Warnings) != 1 {
		t.Errorf("warnings %v", out.Warnings)
	}
	r.Refuse(memory.CallRegistered, errors.New("no reply"))
	if _, err := r.run(apply, without); err == nil || !strings.Contains(err.Error(), "no reply") {
		t.Errorf("error %v", err)
	}
	r.Refuse(memory.CallRegistered, nil)
	r.tune = func(req *interpreter.Request) { req.AllowDestroy = true }
	r.must(apply, without)
	if all, err := r.Host().Machines.Registered(context.Background()); err != nil || len(all) > 0 {
		t.Errorf("machines %v, %v", all, err)
	}
	r.tune = nil
	r.must(reset, nothing)
	r.same(r.before)
}
