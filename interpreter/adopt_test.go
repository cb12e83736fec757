package interpreter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// adoptable is a host that equals the recipe adoptee.
func adoptable() memory.Options {
	const unit = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
	return memory.Options{
		Files: map[string]memory.File{
			"/etc/site/x": {Content: "x"}, "/etc/systemd/system/ours.service": {Content: unit},
			"/etc/systemd/system/multi-user.target.wants/ours.service": {Link: "/etc/systemd/system/ours.service"},
		},
	}
}

const adoptee = `
write_file_if_changed "x" {
  path    = "/etc/site/x"
  content = "x"
}
absent "old" { path = "/etc/old" }
systemd_unit "ours.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
  restart = "never"
}
`

// TestAdopt: a host that equals the recipe is claimed as it is; nothing but the
// memory of it is written, and nothing of it goes on a reset.
func TestAdopt(t *testing.T) {
	r := newRig(t, adoptable())
	out := r.must(adopt, a(adoptee))
	if out.Phase != "complete" || out.Word != "ok" {
		t.Errorf("outcome %+v", out)
	}
	for _, effect := range r.Effects() {
		if !strings.Contains(effect, record.Dir) && effect != "sync /var/lib" {
			t.Errorf("effect %s", effect)
		}
	}
	for _, c := range r.record().Claims {
		if c.Origin.Kind != thing.OriginAdopted && !record.HoldsRecord(c.Thing) {
			t.Errorf("%s: origin %+v", c.Thing, c.Origin)
		}
	}
	r.must(ensure, nothing)
	r.list(r.Effects())
	fails[*record.RefusedError](r, adopt, a(adoptee), "adopt takes over hosts without a record only")
	r.must(apply, a("")) // prune leaves it, too
	r.want("/etc/site/x", "x")
	r.must(apply, a(adoptee))
	r.must(reset, nothing)
	r.same(r.Before)
	if !r.unit("ours.service").Running() {
		t.Error("the unit was stopped")
	}
}

// TestAdoptRefuses: a host that differs, or of which that cannot be told, is
// left alone.
func TestAdoptRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, step string }{
		"content": {strings.Replace(adoptee, `content = "x"`, `content = "y"`, 1), "write_file_if_changed.x"},
		"mode":    {strings.Replace(adoptee, `content = "x"`, "content = \"x\"\n mode = \"0600\"", 1), "write_file_if_changed.x"},
		"missing": {adoptee + more, "write_file_if_changed.z"},
		"command": {adoptee + "command \"c\" { argv = [\"true\"] }\n", "command.c"},
		"state":   {strings.NewReplacer(`"started"`, `"stopped"`, `restart = "never"`, "").Replace(adoptee), "systemd_unit[\"ours.service\"]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, adoptable())
			e := fails[*interpreter.DiffersError](r, adopt, a(c.body), "nothing was changed")
			if !slices.Equal(e.Steps, []string{c.step}) {
				t.Errorf("steps %q", e.Steps)
			}
			r.list(r.Effects())
			r.same(r.Before)
		})
	}
	r := newRig(t, adoptable())
	fails[*interpreter.UnmetError](r, adopt, a("require_capability \"t\" { executable = \"nothing\" }\n"+adoptee))
	r.put(record.KeyFile, "short")
	r.ok(r.Host().Files.Chmod(record.Dir, 0o700))
	for _, do := range []verb{adopt, apply} {
		if _, err := r.run(do, a(adoptee)); err == nil || !strings.Contains(err.Error(), "key is damaged") {
			t.Errorf("error %v", err)
		}
	}
}

// TestStatus: phase, identity, drift by its policy, debts and the last run.
func TestStatus(t *testing.T) {
	r := newRig(t, memory.Options{Units: []memory.Unit{{Name: "theirs.service", Running: true}}})
	if s := r.status(); s.Phase != "absent" || s.LastRun != nil {
		t.Errorf("status %+v", s)
	}
	body := strings.Replace(one, "content", "on_drift = \"hold\"\n content", 1) + more +
		"restart_on_change \"theirs.service\" { watch = [write_file_if_changed.x, write_file_if_changed.z] }\n"
	r.must(apply, a(body))
	r.put("/etc/x", "edited")
	r.put("/etc/z", "edited")
	s := r.status()
	if s.Phase != "complete" || s.Identity.Recipe != "site" || s.Identity.RecipeVersion != "1.0.0" || len(s.Drift) != 2 || len(s.Debts) != 0 {
		t.Errorf("status %+v", s)
	}
	if s.LastRun == nil || s.LastRun.Result != "ok" || s.LastRun.Command != "hostler test" || s.LastRun.Time.IsZero() {
		t.Errorf("last run %+v", s.LastRun)
	}
	out := r.must(verify, nothing)
	if len(out.Drift) != 2 || len(r.Effects()) > 0 {
		t.Errorf("verify %+v", out)
	}
	fails[*walk.StepError](r, ensure, nothing, "on_drift says hold")
	r.want("/etc/z", "edited") // it stops before later steps
	s = r.status()
	if s.LastRun.Result != "failed" || s.LastRun.Step != "write_file_if_changed.x" || !strings.Contains(s.LastRun.Error, "hold") {
		t.Errorf("last run %+v", s.LastRun)
	}
	r.put("/etc/x", "one")
	r.FailJob(host.JobRestart, "theirs.service", "failed")
	fails[*walk.StepError](r, ensure, nothing)
	if s := r.status(); len(s.Debts) != 1 || s.Debts[0].Unit != "theirs.service" {
		t.Errorf("debts %+v", s.Debts)
	}
	doc := interpreter.StatusDocument(r.status())
	if doc.Phase != "complete" || len(doc.Debts) != 1 || doc.LastRun == nil || doc.FormatVersion != "1" {
		t.Errorf("document %+v", doc)
	}
	r.Reboot()
	if s := r.status(); len(s.Debts) != 0 || s.LastRun != nil {
		t.Errorf("status after a reboot %+v", s)
	}
}

// TestPreflightCommand: the requirements of a recipe, or none on a complete
// installation (R104).
func TestPreflightCommand(t *testing.T) {
	body := "require_capability \"a\" { executable = \"nothing\" }\nrequire_capability \"b\" { executable = \"sh\" }\n" +
		"require_capability \"c\" {\n executable = \"nothing\"\n severity = \"warning\"\n}\n" + one
	r := newRig(t, memory.Options{Executables: []string{"apt-get"}})
	found, err := r.Interpreter().Preflight(t.Context(), r.request(a(body)))
	unmet, ok := errors.AsType[*interpreter.UnmetError](err)
	if !ok || len(found) != 3 || len(unmet.Findings) != 1 {
		t.Fatalf("found %+v, error %v", found, err)
	}
	doc := interpreter.PreflightDocument(found, unmet)
	if doc.Passed || doc.ErrorCount != 1 || doc.WarningCount != 1 || doc.Findings[0].Status != "error" || doc.Findings[1].Status != "ok" || doc.Findings[2].Status != "warning" {
		t.Errorf("document %+v", doc)
	}
	r.same(r.Before)
	if _, err := r.Interpreter().Preflight(t.Context(), interpreter.Request{}); !errors.Is(err, record.ErrAbsent) {
		t.Errorf("error %v", err)
	}
	r.Plan = failing()
	fails[*walk.StepError](r, apply, a("require_capability \"b\" { executable = \"sh\" }\n"+one+more))
	if found, err := r.Interpreter().Preflight(t.Context(), interpreter.Request{}); err != nil || len(found) != 1 {
		t.Errorf("found %+v, error %v", found, err)
	}
	r.must(ensure, nothing)
	if found, err := r.Interpreter().Preflight(t.Context(), interpreter.Request{}); err != nil || len(found) != 0 {
		t.Errorf("found %+v, error %v", found, err)
	}
}
