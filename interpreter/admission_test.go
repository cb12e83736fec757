package interpreter_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter"
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
	r.Plan = failing()
	fails[*walk.StepError](r, apply, a(body+more), "no space left")
	return r
}

// updating is a rig whose update from one to two failed.
func updating(t testing.TB) *rig {
	t.Helper()
	r := newRig(t, memory.Options{})
	r.must(apply, a(one))
	r.Plan = failing()
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
			r.list(r.Effects())
			r.same(r.Before)
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
	r.same(r.Before)
}

// TestR052InspectionFails: a host that cannot be inspected is not clean.
func TestR052InspectionFails(t *testing.T) {
	r := newRig(t, rich(t))
	r.Refuse(memory.CallRegistered, errors.New("no reply from machined"))
	_, err := r.run(apply, given{recipe: recipeFile(t, "rich.hcl")})
	if err == nil || !strings.Contains(err.Error(), "no reply from machined") {
		t.Errorf("error %v", err)
	}
	r.same(r.Before)
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
	r.same(r.Before)
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
		before := r.Standing()
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
	r.Wrap = func(h host.Host) host.Host { h.Network = noNetwork{h.Network, &requests}; return h }
	before, inode := r.Standing(), r.inode(record.File)
	for name, g := range map[string]given{"the same": a(body), "nothing": nothing, "a newer one": a(body+more, "id=a")} {
		r.must(ensure, g)
		if list := r.Effects(); len(list) > 0 {
			t.Errorf("ensure with %s: effects %v", name, list)
		}
	}
	r.must(apply, a(body))
	r.list(r.Effects())
	r.must(apply, nothing)
	r.list(r.Effects())
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
	before := r.Standing()
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
	r.list(r.Effects())
	r.same(r.Before)
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
			r.tune, r.Plan = nil, failing()
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
	r.ok(r.Store().Save(context.Background(), rec))
	out := r.must(ensure, a(one))
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Superseded identity" {
		t.Errorf("warnings %v", out.Warnings)
	}
	fails[*record.RefusedError](r, apply, a(one))
}
