package interpreter_test

import (
	"maps"
	"strings"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
)

const (
	withInterpreter = "write_file_if_changed \"a\" {\n  path    = \"/etc/a.conf\"\n  content = \"a\\n\"\n}\ninterpreter_install \"hostler\" {}\n"
	bin             = "/usr/local/bin/"
	daemonFile      = "/etc/systemd/system/" + delivery.DaemonUnit
	bootFile        = "/etc/systemd/system/" + delivery.BootUnit
	bootLink        = "/etc/systemd/system/multi-user.target.wants/" + delivery.BootUnit
)

// TestR110DaemonStartsWhenComplete: it is started after the record says so and
// the lock is free, and never before.
func TestR110DaemonStartsWhenComplete(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(withInterpreter))
	if !r.unit(delivery.DaemonUnit).Running() {
		t.Fatal("the daemon does not run")
	}
	start := r.at(func(e fault.Effect) bool { return e.Kind == "unit start" && e.Name == delivery.DaemonUnit })
	last := -1
	for i, e := range r.Plan.Log() {
		if strings.HasPrefix(e.Name, record.Dir) {
			last = i
		}
	}
	if start < last {
		t.Errorf("the daemon is started at effect %d, the record is written at %d", start, last)
	}
	r.want(bin+"hostler", "the interpreter")
}

// TestH22StoppedDaemonIsStartedAgain, and H21: a healthy one costs no write.
func TestH22StoppedDaemonIsStartedAgain(t *testing.T) {
	for name, do := range map[string]verb{"ensure": ensure, "apply": apply} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, memory.Options{})
			r.must(apply, a(withInterpreter))
			r.must(do, a(withInterpreter))
			r.list(r.Effects())
			r.job(host.JobStop, delivery.DaemonUnit)
			before := r.inode(record.File)
			if out := r.must(verify, nothing); out.Changed != 1 {
				t.Errorf("verify finds %d changes", out.Changed)
			}
			r.must(do, a(withInterpreter))
			if !r.unit(delivery.DaemonUnit).Running() {
				t.Error("the daemon does not run")
			}
			if do := r.record(); do.Phase != record.Complete || r.inode(record.File) == before {
				t.Errorf("what was repaired is not committed: phase %s", do.Phase)
			}
		})
	}
}

// TestH20BrokenLinks: links that lead nowhere are put right on a complete host.
func TestH20BrokenLinks(t *testing.T) {
	for _, name := range []string{"hostler", "hostler-current", "hostler-last-good"} {
		r := newRig(t, memory.Options{})
		r.must(apply, a(withInterpreter))
		r.ok(host.Symlink(r.Host().Files, "gone", bin+name))
		r.must(ensure, nothing)
		r.want(bin+name, "the interpreter")
	}
}

// TestR045UnitsGoFirst: what could start us again goes before all else, each
// unit stopped before its file goes.
func TestR045UnitsGoFirst(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(withInterpreter))
	r.must(reset, nothing)
	r.same(r.Before)
	var order []string
	for _, e := range r.Plan.Log() {
		if strings.HasPrefix(e.Kind, "unit ") || e.Kind == "remove" && !strings.HasPrefix(e.Name, "/run") && !strings.HasPrefix(e.Name, record.Dir) && !strings.HasSuffix(e.Name, ".wants") {
			order = append(order, strings.TrimPrefix(e.Name, "/etc/systemd/system/"))
		}
	}
	r.list(order[:6], "multi-user.target.wants/"+delivery.BootUnit, delivery.BootUnit, delivery.RecoveryUnit,
		delivery.DaemonUnit, "multi-user.target.wants/"+delivery.DaemonUnit, delivery.DaemonUnit)
}

// TestResetInsideTheDaemon: the unit we run in keeps its file and its
// enablement until all else is gone, and is stopped at the very end.
func TestResetInsideTheDaemon(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(withInterpreter))
	r.OwnUnit = delivery.DaemonUnit
	r.must(reset, nothing)
	log := r.Plan.Log()
	file := r.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == daemonFile })
	other := r.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/etc/a.conf" })
	stop := r.at(func(e fault.Effect) bool { return strings.HasSuffix(e.Kind, "stop") && e.Name == delivery.DaemonUnit })
	erased := r.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == record.File })
	if other < 0 || file < other || stop < erased || erased < 0 {
		t.Errorf("other files go at %d, its own at %d, the record at %d, the stop is at %d: %v", other, file, erased, stop, log)
	}
	if kind := log[stop].Kind; kind != "queue stop" {
		t.Errorf("its stop is waited for: %s", kind)
	}
}

// brought is a host that was delivered to.
func brought() memory.Options {
	return memory.Options{Files: map[string]memory.File{
		bin + "hostler":                 {Content: "delivered", Mode: 0o755},
		bin + "other":                   {Content: "foreign", Mode: 0o755},
		"/etc/hostler":                  {Dir: true, Mode: 0o700},
		delivery.InputsHCL:              {Content: "id = \"a\"\n", Mode: 0o600},
		delivery.RecipeDir:              {Dir: true, Mode: 0o755},
		delivery.RecipeDir + "/r.hcl":   {Content: "x", Mode: 0o644},
		delivery.RecipeDir + "/files/x": {Content: "x", Mode: 0o644},
		bootFile:                        {Content: delivery.Boot{Prefix: "/usr/local", Recipe: "recipe:x"}.Text(), Mode: 0o644},
		bootLink:                        {Link: "../" + delivery.BootUnit},
	}}
}

// TestDeliveredGoesOnReset: what a first boot brought is in nobody's way, is
// claimed whether the recipe installs the interpreter or not, and goes.
func TestDeliveredGoesOnReset(t *testing.T) {
	const plain = "write_file_if_changed \"a\" {\n  path    = \"/etc/a.conf\"\n  content = \"a\\n\"\n}\n"
	for name, body := range map[string]string{
		"installed": withInterpreter, "not installed": plain,
		"a step's own": plain + "write_file_if_changed \"b\" {\n  path    = \"/etc/hostler/inputs.hcl\"\n  content = \"mine\\n\"\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, brought())
			r.must(apply, a(body))
			if body == withInterpreter {
				r.want(bin+"hostler-blue", "delivered")
				r.want(bootFile, delivery.Boot{Prefix: "/usr/local"}.Text())
			}
			r.must(ensure, nothing)
			r.list(r.Effects())
			r.must(reset, nothing)
			want := newRig(t, memory.Options{Files: map[string]memory.File{bin + "other": {Content: "foreign", Mode: 0o755}}})
			for _, name := range []string{bin + "hostler", "/etc/hostler", bootFile, bootLink, bin + "hostler-blue", "/etc/a.conf"} {
				if got := r.read(name); got != "(absent)" {
					t.Errorf("%s is left: %q", name, got)
				}
			}
			r.want(bin+"other", want.read(bin+"other"))
		})
	}
}

// TestTheProgramGoesLast: a reset that fails can be run again with it.
func TestTheProgramGoesLast(t *testing.T) {
	r := newRig(t, memory.Options{Files: map[string]memory.File{"/opt/h/bin/hostler": {Content: "delivered", Mode: 0o755}}})
	r.tune = func(req *interpreter.Request) { req.Prefix = "/opt/h" }
	r.must(apply, a(withInterpreter))
	r.must(reset, nothing)
	program := r.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == "/opt/h/bin/hostler-blue" })
	for i, e := range r.Plan.Log() {
		if i > program && e.Kind == "remove" && strings.HasPrefix(e.Name, "/etc/") {
			t.Errorf("%s goes after the program", e.Name)
		}
	}
	if boot := r.at(func(e fault.Effect) bool { return e.Kind == "remove" && e.Name == bootFile }); boot < 0 || program < boot {
		t.Errorf("the boot unit goes at %d, the program at %d", boot, program)
	}
	if _, err := host.Lstat(r.Host().Files, "/opt/h"); err == nil {
		t.Error("the program's directory is left")
	}
}

// TestDeliveredDirectoriesGo: those that were made for the program go when they
// are empty; those that systems bring, and those with something of others in
// them, stay.
func TestDeliveredDirectoriesGo(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]memory.File
		gone, stays string
	}{
		"ours":    {nil, "/opt/h", "/opt"},
		"theirs":  {map[string]memory.File{"/opt/h/notes": {Content: "x"}}, "/opt/h/bin", "/opt/h"},
		"program": {map[string]memory.File{"/opt/h/bin/other": {Content: "x"}}, "/opt/h/bin/hostler", "/opt/h/bin"},
	} {
		for _, body := range []string{withInterpreter, "directory \"d\" { path = \"/etc/d\" }\n"} {
			files := map[string]memory.File{"/opt/h/bin/hostler": {Content: "delivered", Mode: 0o755}}
			maps.Copy(files, c.files)
			r := newRig(t, memory.Options{Files: files})
			r.tune = func(req *interpreter.Request) { req.Prefix = "/opt/h" }
			r.must(apply, a(body))
			r.must(apply, a(body))
			r.must(reset, nothing)
			for path, want := range map[string]bool{c.gone: false, c.stays: true} {
				if _, err := host.Lstat(r.Host().Files, path); (err == nil) != want {
					t.Errorf("%s: %s is there: %v, want %v", name, path, err == nil, want)
				}
			}
		}
	}
}

// TestDeliveredIsHandedOver: a recipe that installs the interpreter takes over
// what was claimed as delivered, and one that does not any more leaves nothing.
func TestDeliveredIsHandedOver(t *testing.T) {
	r := newRig(t, brought())
	plain := strings.Split(withInterpreter, "interpreter_install")[0]
	r.must(apply, a(plain))
	r.must(apply, a(withInterpreter))
	r.want(bin+"hostler", "delivered")
	r.must(apply, a(plain))
	for _, name := range []string{bin + "hostler", bin + "hostler-blue", bootFile, bootLink, daemonFile} {
		if got := r.read(name); got != "(absent)" {
			t.Errorf("%s is left: %q", name, got)
		}
	}
	r.want(delivery.InputsHCL, "id = \"a\"\n")
	r.must(reset, nothing)
	if got := r.read("/etc/hostler"); got != "(absent)" {
		t.Error("/etc/hostler is left")
	}
}

// TestResetWithoutRecordRemovesTheInterpreter, below another prefix too.
func TestResetWithoutRecordRemovesTheInterpreter(t *testing.T) {
	for _, prefix := range []string{"", "/opt/h"} {
		r := newRig(t, memory.Options{})
		r.tune = func(req *interpreter.Request) { req.Prefix = prefix }
		r.must(apply, a(withInterpreter))
		r.remove(record.File)
		r.must(reset, nothing)
		for _, name := range []string{bin + "hostler", "/opt/h/bin/hostler-blue", "/opt/h/bin/hostler", daemonFile, bootFile, bin + "hostler-current"} {
			if got := r.read(name); got != "(absent)" {
				t.Errorf("prefix %q: %s is left", prefix, name)
			}
		}
	}
}

// TestR097BothErrorsAreReported: what was wrong, and why it could not be put
// right.
func TestR097BothErrorsAreReported(t *testing.T) {
	crashes := false
	r := newRig(t, memory.Options{Scripts: map[string]memory.Script{delivery.DaemonUnit: func(int) memory.Outcome {
		return memory.Outcome{Ends: crashes, Status: 2}
	}}})
	r.must(apply, a(withInterpreter))
	r.job(host.JobStop, delivery.DaemonUnit)
	crashes = true
	_, err := r.run(ensure, nothing)
	if err == nil || !strings.Contains(err.Error(), "the daemon does not run, and changing that failed") || !strings.Contains(err.Error(), delivery.DaemonUnit) {
		t.Errorf("error: %v", err)
	}
	if r.record().Phase != record.Complete {
		t.Error("a repair that failed left complete")
	}
}

// TestDaemonThatDoesNotStart fails the run that completed the installation,
// which stays complete.
func TestDaemonThatDoesNotStart(t *testing.T) {
	r := newRig(t, memory.Options{Scripts: map[string]memory.Script{delivery.DaemonUnit: func(int) memory.Outcome {
		return memory.Outcome{Ends: true, Status: 2}
	}}})
	out, err := r.run(apply, a(withInterpreter))
	if err == nil || !strings.Contains(err.Error(), "the installation is complete; its daemon does not run") || out.Word != "failed" {
		t.Errorf("outcome %s: %v", out.Word, err)
	}
	if r.record().Phase != record.Complete {
		t.Error("the installation is not complete")
	}
}

// TestStatusOfTheDaemon: what it says, until it does not run any more.
func TestStatusOfTheDaemon(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.must(apply, a(withInterpreter))
	if s := r.status(); s.Daemon != nil {
		t.Errorf("nothing was said: %+v", s.Daemon)
	}
	note := interpreter.DaemonNote{State: "watching", Version: "1", Held: []string{"a.b"}, LastLook: &interpreter.DaemonLook{Result: "ok"}}
	r.ok(record.NewStore(r.Host(), strings.NewReader("")).WriteNote(interpreter.DaemonNoteName, note))
	doc := interpreter.StatusDocument(r.status())
	if doc.Daemon == nil || doc.Daemon.State != "watching" || doc.Daemon.LastLook.Result != "ok" || len(doc.Daemon.Held) != 1 {
		t.Errorf("document: %+v", doc.Daemon)
	}
	r.job(host.JobStop, delivery.DaemonUnit)
	if s := r.status(); s.Daemon.State != "stopped" {
		t.Errorf("a daemon that was killed is %s", s.Daemon.State)
	}
}
