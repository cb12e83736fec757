package interpreter_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/rehearse/laws"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// installed is a rig with a foreign original, a directory and a unit of ours.
func installed(t testing.TB) *rig {
	t.Helper()
	r := newRig(t, memory.Options{
		Files: map[string]memory.File{"/etc/motd": {Content: "theirs", Mode: 0o640, GID: 4, Xattrs: map[string]string{"user.a": "b"}}, "/etc/link": {Link: "motd"}},
		Units: []memory.Unit{{Name: "theirs.service", Enabled: true, Running: true}},
	})
	r.must(apply, a(site))
	return r
}

const site = `
directory "d" { path = "/etc/site" }
write_file_if_changed "x" {
  path    = "/etc/site/x"
  content = "x"
}
write_file_if_changed "motd" {
  path             = "/etc/motd"
  content          = "ours"
  replaces_foreign = true
}
absent "link" { path = "/etc/link" }
systemd_unit "ours.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  enable  = true
  state   = "started"
  restart = "never"
}
systemd_unit "theirs.service" {
  enable = false
  state  = "stopped"
}
reset_step "r" {
  remove_path {
    path      = "/var/lib/site"
    recursive = true
  }
}
`

// TestReset: everything goes back, what a reset_step names goes, nothing is
// remembered, and the lock file stays (R038). A second reset succeeds (H33).
func TestReset(t *testing.T) {
	r := installed(t)
	r.put("/var/lib/site/data", "left by the workload")
	out := r.must(reset, nothing)
	if out.Phase != "absent" || out.Word != "ok" || out.Undone == 0 {
		t.Errorf("outcome %+v", out)
	}
	r.same(r.Before)
	if u := r.unit("theirs.service"); !u.Running() || u.UnitFileState != "enabled" {
		t.Errorf("unit %+v", u)
	}
	if r.unit("ours.service").LoadState != "not-found" {
		t.Error("our unit is still known")
	}
	if len(r.status().Debts) > 0 || r.status().Phase != "absent" {
		t.Errorf("status %+v", r.status())
	}
	r.must(reset, nothing)
	r.list(r.Effects())
	r.must(apply, a(site)) // H42: it can be installed again
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestR143NotAdmittedFresh: after a reset that failed the next run is refused,
// not admitted as on a clean host.
func TestR119R143FailedReset(t *testing.T) {
	r := installed(t)
	r.Plan = fault.FailAt(1, syscall.EIO).Only(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/site/x" })
	out, err := r.run(reset, nothing)
	if _, ok := errors.AsType[*walk.StepError](err); !ok || out.Phase != "resetting" || out.Word != "failed" {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	fails[*record.RefusedError](r, apply, a(site), "run hostler reset again")
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestR122RemovalPutBack: a removal of the record that cannot be made durable
// puts it back, and the next reset finishes.
func TestR122RemovalPutBack(t *testing.T) {
	clean := installed(t)
	clean.must(reset, nothing)
	removal := clean.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == record.File })
	r := installed(t)
	r.Plan = fault.FailAt(removal+2, syscall.EIO)
	out, err := r.run(reset, nothing)
	if err == nil || !strings.Contains(err.Error(), "removal of the ownership record is not durable") || out.Phase != "resetting" {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if r.record().Phase != record.Resetting {
		t.Errorf("phase %s", r.record().Phase)
	}
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestEdited: an edit refuses before anything is torn down, and is discarded
// when that is asked for.
func TestEdited(t *testing.T) {
	r := installed(t)
	r.put("/etc/site/x", "edited")
	before := r.Standing()
	fails[*walk.EditedError](r, reset, nothing, "path:/etc/site/x", "--discard-edits")
	r.list(r.Effects())
	r.same(before)
	r.tune = func(req *interpreter.Request) { req.DiscardEdits = true }
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestPlanReset: what will go is shown, what is left alone is, and nothing
// changes.
func TestPlanReset(t *testing.T) {
	r := installed(t)
	before := r.Standing()
	r.must((*interpreter.Interpreter).PlanReset, nothing)
	if got := r.Changed(); !slices.Contains(got, "delete path:/etc/site/x") || !slices.Contains(got, "delete unit-active:ours.service") {
		t.Errorf("planned %q", got)
	}
	r.list(r.Effects())
	r.same(before)
}

// TestR124R125Salvage: a reset without a usable record works from what was
// stored: originals go back, what is ours goes, and nothing else.
func TestR124R125C72Salvage(t *testing.T) {
	for name, spoil := range map[string]func(*rig){
		"absent":            func(r *rig) { r.remove(record.File) },
		"empty":             func(r *rig) { r.put(record.File, "") },
		"cut":               func(r *rig) { r.put(record.File, r.read(record.File)[:200]) },
		"another program's": func(r *rig) { r.put(record.File, `{"version": 3}`) },
		"a directory":       func(r *rig) { r.remove(record.File); r.put(record.File+"/x", "y") },
		"key damaged":       func(r *rig) { r.put(record.File, "{"); r.put(record.KeyFile, "short") },
	} {
		t.Run(name, func(t *testing.T) {
			r := installed(t)
			spoil(r)
			out := r.must(reset, nothing)
			if out.Phase != "absent" {
				t.Errorf("outcome %+v", out)
			}
			// The state of foreign units is not known any more.
			diff := memory.Difference(r.Before, r.Standing())
			if !slices.Equal(diff, []string{"-/etc/systemd/system/multi-user.target.wants/theirs.service"}) {
				t.Errorf("the host differs: %v", diff)
			}
			if name != "absent" && !slices.ContainsFunc(out.Warnings, has("Reset without the record")) {
				t.Errorf("warnings %v", out.Warnings) // R125: it says why
			}
			if !slices.ContainsFunc(out.Warnings, has("Left as it is")) {
				t.Errorf("warnings %v", out.Warnings)
			}
			if r.unit("ours.service").Running() {
				t.Error("our unit still runs")
			}
			r.must(reset, nothing)
		})
	}
}

// TestSalvageFromRecipe: with the states lost too, the recipe tells what would
// have been written.
func TestSalvageFromRecipe(t *testing.T) {
	r := installed(t)
	r.remove(record.File)
	r.remove(record.StateDir)
	r.must(reset, a(site))
	diff := memory.Difference(r.Before, r.Standing())
	if !slices.Equal(diff, []string{"-/etc/systemd/system/multi-user.target.wants/theirs.service"}) {
		t.Errorf("the host differs: %v", diff)
	}
}

// TestSalvageFromBackups: with nothing but the backups left, originals go back.
func TestSalvageFromBackups(t *testing.T) {
	r := installed(t)
	r.remove(record.File)
	r.remove(record.StateDir)
	r.must(reset, nothing)
	r.want("/etc/motd", "theirs")
	target, err := r.Host().Files.ReadlinkIfPossible("/etc/link")
	if err != nil || target != "motd" {
		t.Errorf("link to %q, %v", target, err)
	}
	r.want("/etc/site/x", "x") // nothing says that it is ours
}

// TestSalvageNamesStandingDirectories: a directory at the top may be the
// system's own; it stays, and the reset says so.
func TestSalvageNamesStandingDirectories(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a("directory \"top\" { path = \"/top\" }\n"))
	r.remove(record.File)
	out := r.must(reset, nothing)
	named := func(d *hcl.Diagnostic) bool {
		return d.Summary == "Left as it is" && strings.HasPrefix(d.Detail, "path:/top: ")
	}
	if !slices.ContainsFunc(out.Warnings, named) {
		t.Errorf("warnings %v", out.Warnings)
	}
}

// TestLeft: what is not exactly ours stays and is listed; the reset is not
// finished until it is gone, by hand or by force.
func TestLeft(t *testing.T) {
	set := func(t *testing.T) *rig {
		r := installed(t)
		r.put("/etc/site/x", "edited")
		r.remove(record.File)
		e := fails[*interpreter.LeftError](r, reset, nothing, "path:/etc/site/x", "--force")
		if !slices.Equal(e.Things, []thing.Key{"path:/etc/site/x"}) {
			t.Errorf("left %v", e.Things)
		}
		r.want("/etc/site/x", "edited")
		r.want("/etc/motd", "theirs")
		fails[*record.RefusedError](r, apply, a(site), "a reset of this host is not finished")
		return r
	}
	done := func(r *rig) {
		r.Helper()
		diff := memory.Difference(r.Before, r.Standing())
		if !slices.Equal(diff, []string{"-/etc/systemd/system/multi-user.target.wants/theirs.service"}) {
			r.Errorf("the host differs: %v", diff)
		}
	}
	t.Run("by hand", func(t *testing.T) {
		r := set(t)
		fails[*interpreter.LeftError](r, reset, nothing)
		r.remove("/etc/site/x")
		r.must(reset, nothing)
		done(r)
	})
	t.Run("by force", func(t *testing.T) {
		r := set(t)
		r.tune = func(req *interpreter.Request) { req.Force = true }
		r.must(reset, nothing)
		done(r)
	})
	t.Run("from the recipe", func(t *testing.T) {
		r := installed(t)
		r.put("/etc/site/x", "edited")
		r.remove(record.File)
		r.remove(record.StateDir)
		fails[*interpreter.LeftError](r, reset, a(site))
		r.tune = func(req *interpreter.Request) { req.Force = true }
		r.must(reset, nothing) // what it was looking for is noted
		done(r)
	})
}

// TestSalvageOfMachines: a tree with our completion mark goes, one without
// stays unless it is forced.
func TestSalvageOfMachines(t *testing.T) {
	for name, c := range map[string]struct{ mark, force, left bool }{
		"complete": {mark: true}, "not complete": {left: true}, "forced": {force: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rich(t))
			r.must(apply, given{recipe: recipeFile(t, "rich.hcl"), vars: []string{"token=secret"}})
			r.remove(record.File)
			if !c.mark {
				r.remove("/var/lib/machines/.hostler/kube1.json")
			}
			r.tune = func(req *interpreter.Request) { req.Force = c.force }
			_, err := r.run(reset, nothing)
			left, is := errors.AsType[*interpreter.LeftError](err)
			if is != c.left || !is && err != nil || is && !slices.Contains(left.Things, "machine:kube1") {
				t.Fatalf("error %v", err)
			}
			_, gone := host.Lstat(r.Host().Files, "/var/lib/machines/kube1")
			if host.Absent(gone) == c.left {
				t.Errorf("the tree: %v", gone)
			}
			r.want("/etc/motd", "welcome\n")
			r.want("/etc/daemon.json", "{\n  \"theirs\": 1\n}\n")
			r.want("/etc/cron.d/old", "* * * * * root old\n")
			r.want("/etc/agent/token", "(absent)")
		})
	}
}

// TestSalvageGoesOn: a salvage that is cut short anywhere is finished by the
// next one, and nothing of what was kept is lost.
func TestSalvageGoesOn(t *testing.T) {
	clean := installed(t)
	clean.remove(record.File)
	clean.must(reset, nothing)
	effects, want := len(clean.Plan.Log()), clean.Standing()
	ways := append(laws.Crashes(1), laws.AllWays(1, 1, 1)[5]) // which is EIO
	for _, way := range ways {
		for n := 1; n <= effects; n++ {
			r := installed(t)
			r.remove(record.File)
			at := r.GoWrong(way, n, reset, r.request(nothing))
			if _, err := r.run(reset, nothing); err != nil {
				t.Fatalf("%s: then reset fails: %v", at, err)
			}
			if diff := memory.Difference(want, r.Standing()); len(diff) > 0 {
				t.Fatalf("%s: in the end %v", at, diff)
			}
		}
	}
	t.Logf("%d points tried", len(ways)*effects)
}

// TestR126R127Tools: machined that is not there proves that there is no
// machine; one that fails does not (H26, H27).
func TestR126R127Tools(t *testing.T) {
	r := newRig(t, rich(t))
	r.must(apply, given{recipe: recipeFile(t, "rich.hcl")})
	r.Refuse(memory.CallRegistered, errors.New("no reply"))
	if _, err := r.run(reset, nothing); err == nil || !strings.Contains(err.Error(), "no reply") {
		t.Fatalf("error %v", err)
	}
	if r.record().Phase != record.Resetting {
		t.Errorf("phase %s", r.record().Phase)
	}
	r.Refuse(memory.CallRegistered, nil)
	r.must(reset, nothing)
	r.same(r.Before)

	o := rich(t)
	o.NoSystemdContainer = true
	r = newRig(t, o)
	full := recipeFile(t, "rich.hcl")["recipe.hcl"]
	r.must(apply, given{recipe: files{"recipe.hcl": full[:strings.Index(full, "stage \"machine\"")]}})
	r.must(reset, nothing)
	r.same(r.Before)
}

// TestR142Disabled: after a reset the machine's unit is disabled and its tree
// gone, in this order of undoing.
func TestR130R142MachineGone(t *testing.T) {
	r := newRig(t, rich(t))
	r.must(apply, given{recipe: recipeFile(t, "rich.hcl")})
	r.must(reset, nothing)
	did := r.Changed()
	stop, tree := slices.Index(did, "delete unit-active:systemd-nspawn@kube1.service"), slices.Index(did, "delete machine:kube1")
	if stop < 0 || tree < stop {
		t.Errorf("undone %q", did)
	}
	if u := r.unit("systemd-nspawn@kube1.service"); u.Running() || u.UnitFileState != "disabled" {
		t.Errorf("unit %s, %s", u.ActiveState, u.UnitFileState)
	}
}

// TestOwnUnit: the unit we run in is stopped when all else is done, and is not
// waited for.
func TestOwnUnitStopsLast(t *testing.T) {
	r := installed(t)
	r.OwnUnit = "ours.service"
	r.must(reset, nothing)
	jobs := r.jobs()
	last := jobs[len(jobs)-1]
	if last != "queue stop ours.service" {
		t.Errorf("jobs %q", jobs)
	}
	if at := r.at(func(e fault.Effect) bool { return e.Kind == "queue stop" }); at < r.at(func(e fault.Effect) bool { return e.Name == record.File && e.Kind == "remove" }) {
		t.Error("it is stopped before the record is gone")
	}
	r.same(r.Before)
}

// has finds a warning by its summary.
func has(summary string) func(*hcl.Diagnostic) bool {
	return func(d *hcl.Diagnostic) bool { return d.Summary == summary }
}

// TestBytesThatAreNoTextComeBack: links and lines of others that are no UTF-8
// are in the record as they are, so that a reset finds them put back.
func TestBytesThatAreNoTextComeBack(t *testing.T) {
	r := newRig(t, memory.Options{Files: map[string]memory.File{
		"/etc/link":  {Link: "caf\xe9"},
		"/etc/fstab": {Content: "LABEL=\xff none swap sw\n"},
	}})
	before := r.Standing()
	r.must(apply, a("absent \"link\" { path = \"/etc/link\" }\nswap \"off\" {}\n"))
	r.want("/etc/fstab", "# LABEL=\xff none swap sw\n")
	r.must(apply, a("absent \"link\" { path = \"/etc/link\" }\nswap \"off\" {}\n"))
	r.must(reset, given{})
	r.same(before)
}
