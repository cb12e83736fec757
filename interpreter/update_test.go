package interpreter_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/walk"
)

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

// TestR012R013Prefix: the record carries the resolved prefix, absent at the
// default; what a recipe says for a kind of host is weaker than what was given.
func TestR012R013Prefix(t *testing.T) {
	const where = "write_file_if_changed \"p\" {\n path = \"${host.prefix}/share/p\"\n content = \"p\"\n}\n"
	weaker := given{recipe: files{"recipe.hcl": strings.Replace(text(where), `{ id = "debian" }`, "{\n id = \"debian\"\n default_prefix = \"/opt/site\"\n}", 1)}}
	for name, c := range map[string]struct {
		recipe       given
		flag         string
		prefix, path string
	}{
		"the default":             {a(where), "", "", "/usr/local/share/p"},
		"the default spelled out": {a(where), "/usr/local", "", "/usr/local/share/p"},
		"given":                   {a(where), "/srv/x", "/srv/x", "/srv/x/share/p"},
		"the recipe's":            {weaker, "", "/opt/site", "/opt/site/share/p"},
		"given against it":        {weaker, "/srv/x", "/srv/x", "/srv/x/share/p"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.tune = func(req *interpreter.Request) { req.Prefix = c.flag }
			r.must(apply, c.recipe)
			if got := r.record().Prefix; got != c.prefix || strings.Contains(r.read(record.File), `"prefix"`) != (c.prefix != "") {
				t.Errorf("prefix %q", got)
			}
			r.want(c.path, "p")
			r.tune = nil // what was resolved once stays
			r.must(apply, c.recipe)
			r.must(ensure, nothing)
			r.list(r.Effects())
			r.must(reset, nothing) // R139, R140
			r.same(r.Before)
		})
	}
}

// TestPendingMachineChanges: settings that a running machine gets only at its
// next start are written, shown as pending, and count as done; what it was
// built from stays recorded as it was (R079).
func TestPendingMachineChanges(t *testing.T) {
	r := newRig(t, rich(t))
	r.must(apply, given{recipe: recipeFile(t, "rich.hcl")})
	built := r.record().Machines["nspawn_machine.kube1"].Parts
	changed := given{recipe: recipeFile(t, "rich.hcl", `exec = { PrivateUsers = "no" }`, `exec = { PrivateUsers = "no", Hostname = "other" }`)}
	out := r.must(apply, changed)
	if len(out.Pending) != 1 || out.Pending[0].Machine != "kube1" || out.Pending[0].Needs != "machine restart" || out.Phase != "complete" {
		t.Errorf("outcome %+v", out)
	}
	for name, digest := range r.record().Machines["nspawn_machine.kube1"].Parts {
		if built[name] != digest {
			t.Errorf("%s of what it was built from has changed", name)
		}
	}
	r.quiet(changed)
	if s := r.status(); len(s.Pending) != 1 || len(s.Drift) != 0 {
		t.Errorf("status %+v", s)
	}
	doc := interpreter.StatusDocument(r.status())
	if len(doc.Pending) != 1 || doc.Pending[0].Machine != "kube1" {
		t.Errorf("document %+v", doc.Pending)
	}
	r.ok(r.Host().Clock.Sleep(t.Context(), time.Minute))
	r.job(host.JobRestart, "systemd-nspawn@kube1.service")
	if s := r.status(); len(s.Pending) != 0 {
		t.Errorf("pending after a restart %+v", s.Pending)
	}
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
	for i, e := range r.Plan.Log() {
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
	r.Plan = fault.FailAt(1, syscall.ENOSPC).Only(func(e fault.Effect) bool { return strings.HasPrefix(e.Name, "/etc/.x") })
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
		r.list(r.Effects())
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
	r.list(r.Effects())
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

// TestRotatedSecret: a sensitive value that is another one when it has to be
// written again is the one that is known from then on.
func TestRotatedSecret(t *testing.T) {
	const body = "variable \"token\" {\n type = string\n sensitive = true\n}\nwrite_file_if_changed \"t\" {\n path = \"/etc/t\"\n content = \"token=${var.token}\"\n}\n" + one
	for name, phase := range map[string]func(r *rig){
		"complete": func(*rig) {},
		"installing": func(r *rig) {
			if _, err := r.run(apply, a(body+"wait_for \"w\" {\n file = \"/etc/ready\"\n timeout = \"2s\"\n}\n", "token=first")); err == nil {
				t.Fatal("the update did not fail")
			}
			r.put("/etc/ready", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(body, "token=first"))
			phase(r)
			r.remove("/etc/t")
			r.must(ensure, a(body, "token=second"))
			r.want("/etc/t", "token=second")
			if out := r.must(ensure, nothing); out.Changed != 0 || len(out.Drift) != 0 || out.Phase != "complete" {
				t.Errorf("again: %+v", out)
			}
			r.list(r.Effects())
			r.must(reset, nothing)
			if _, err := r.Host().Files.Stat("/etc/t"); !host.Absent(err) {
				t.Errorf("/etc/t: %v", err)
			}
		})
	}
}

// TestAllowDestroy: a running machine that the recipe drops goes only when that
// is allowed.
func TestAllowDestroy(t *testing.T) {
	full := recipeFile(t, "rich.hcl")["recipe.hcl"]
	without := given{recipe: files{"recipe.hcl": full[:strings.Index(full, "stage \"machine\"")]}}
	r := newRig(t, rich(t))
	r.must(apply, given{recipe: files{"recipe.hcl": full}})
	before := r.Standing()
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
	r.same(r.Before)
}

// TestVerifyWithoutSecrets: a file whose secret is not at hand differs, which
// verify says; that it cannot be repaired so is for ensure to say.
func TestVerifyWithoutSecrets(t *testing.T) {
	const secret = "variable \"token\" {\n type = string\n sensitive = true\n}\nwrite_file_if_changed \"t\" {\n path = \"/etc/t\"\n content = var.token\n mode = \"0600\"\n}\n"
	r := newRig(t, memory.Options{})
	r.must(apply, a(secret, "token=x"))
	r.must(verify, nothing)
	r.remove("/etc/t")
	out := r.must(verify, nothing)
	if out.Changed == 0 && len(out.Drift) == 0 {
		t.Errorf("nothing differs: %+v", out)
	}
	fails[*walk.NeedsInputError](r, ensure, nothing, "token")
}
