package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/operate"
	"hostler/interpreter/sink"
)

const motd = `stage "host" {
  write_file_if_changed "motd" {
    path    = "/etc/motd"
    content = "hello\n"
  }
}
`

func TestInstallAndRepair(t *testing.T) {
	r := newRig(t, memory.Options{})
	if out, err := r.apply(motd); err != nil || len(out.Warnings) > 0 {
		t.Fatal(err, out.Warnings)
	}
	s, n := r.last()
	if n == 0 || s.Result != sink.OK || s.Reason != "Succeeded" || s.Phase != "complete" || s.Changed != 1 || s.Command != "apply" || s.InstallationID == "" || s.Host != "host" {
		t.Errorf("%d told, the last: %+v", n, s)
	}
	for _, first := range r.told[:n-1] { // none, when the run was faster than the network
		if first.Result != sink.Running || first.Command != "apply" || first.Phase != "installing" {
			t.Errorf("while it ran: %+v", first)
		}
	}
	if d := cmp.Diff(s, r.file()); d != "" {
		t.Error(d)
	}
	if !strings.Contains(r.read("/run/site/hostler.prom"), "hostler_last_run_steps{result=\"changed\"} 1\n") {
		t.Error(r.read("/run/site/hostler.prom"))
	}
	runs := r.runs()
	if len(runs) != 1 || runs[0].Changed != 1 || runs[0].Phase != "complete" || runs[0].Version != "0.1.0" || runs[0].Recipe != "site" {
		t.Errorf("%+v", runs)
	}
	if _, err := r.Host().Files.Stat("/var/lib/hostler/site/runs/000001.json"); err != nil {
		t.Error(err)
	}

	// Everything is as wanted: no write but below /run, no network.
	before := r.kept()
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, r.kept()); d != "" {
		t.Errorf("a healthy host was written to:\n%s", d)
	}
	if _, now := r.last(); now != n {
		t.Errorf("the network was used: %d told", now)
	}
	if got := r.file(); got.Command != "ensure" || got.Result != sink.OK || got.Changed != 0 {
		t.Errorf("%+v", got)
	}
	if runs := r.runs(); len(runs) != 2 || runs[0].Number != 2 || runs[0].Command != "ensure" {
		t.Errorf("%+v", runs)
	}

	// Drift is repaired: that is told and kept.
	if err := host.Replace(r.Host().Files, "/etc/motd", host.Content{Bytes: []byte("edited\n"), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	if s, now := r.last(); now == n || s.Command != "ensure" || s.Changed != 1 {
		t.Errorf("%d told, the last: %+v", now, s)
	}
	if text := r.read("/run/site/hostler.prom"); !strings.Contains(text, "hostler_last_run_drifted_things 1\n") || !strings.Contains(text, "hostler_last_run_repaired_things 1\n") {
		t.Error(text)
	}
	if _, err := r.Host().Files.Stat("/var/lib/hostler/site/runs/000003.json"); err != nil {
		t.Error(err)
	}

	// A reset is told, and leaves no history.
	if _, err := r.interpreter("reset").Reset(context.Background(), interpreter.Request{}); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.last(); s.Command != "reset" || s.Reason != "Reset" || s.Phase != "absent" || s.Result != sink.OK || s.Recipe != "site" {
		t.Errorf("%+v", s)
	}
	if _, err := r.Host().Files.Stat("/var/lib/hostler"); err == nil {
		t.Errorf("left: %v", r.kept())
	}
	if runs := r.runs(); len(runs) != 2 || runs[0].Command != "reset" {
		t.Errorf("%+v", runs)
	}
}

// TestFailure: a step that fails is told with its reason, and without the
// secret that a program put into its words.
func TestFailure(t *testing.T) {
	const secret = "hunter2-hunter2"
	r := newRig(t, memory.Options{Executables: []string{"join"}, Programs: map[string]memory.Program{
		"join": func(memory.Invocation) host.CommandResult {
			return host.CommandResult{ExitCode: 3, Stderr: []byte("refused: " + secret + "\n")}
		},
	}})
	body := motd + `stage "cluster" {
  write_file_if_changed "token" {
    path    = "/etc/token"
    mode    = "0600"
    content = var.token
  }
  command "join" {
    failure_reason = "JoinFailed"
    argv           = ["join"]
    creates        = "/run/joined"
  }
}
`
	_, err := r.apply(body, "token="+secret)
	if exit, ok := errors.AsType[*host.ExitError](err); !ok || exit.Result.ExitCode != 3 || strings.Contains(err.Error(), secret) {
		t.Fatalf("it fails with %v", err)
	}
	if f := operate.Diagnose(err); strings.Contains(f.Cause, secret) || !strings.Contains(f.Cause, "refused: (sensitive)") || f.Step != "command.join" {
		t.Errorf("%+v", f)
	}
	s, _ := r.last()
	want := sink.Status{
		FormatVersion: "1", Host: "host", InstallationID: s.InstallationID, Recipe: "site", RecipeVersion: "1.0.0", Command: "apply", Phase: "installing",
		Result: sink.Failed, Stage: "cluster", Step: "command.join", Reason: "JoinFailed", Cause: s.Cause, Advice: s.Advice, Began: s.Began, Time: s.Time, Changed: 2,
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	if !strings.Contains(s.Cause, "refused: (sensitive)") || !strings.Contains(s.Advice, "see why join fails") {
		t.Errorf("cause %q, advice %q", s.Cause, s.Advice)
	}
	if line := r.read("/dev/console"); !strings.HasPrefix(line, "hostler apply site: failed: stage cluster: command.join: JoinFailed: ") {
		t.Error(line)
	}
	run := r.runs()[0]
	if run.Step != "command.join" || run.Reason != "JoinFailed" || run.Failed != 1 || run.Steps[len(run.Steps)-1].Error == "" {
		t.Errorf("%+v", run)
	}
	for name := range r.kept() {
		if strings.Contains(name, "/runs/0") && strings.Contains(r.read(name), secret) {
			t.Errorf("%s holds the secret", name)
		}
	}
	for _, text := range []string{r.read("/dev/console"), r.read("/run/site/status.json"), fmt.Sprintf("%+v", r.told), r.read("/run/site/hostler.prom")} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is told: %s", text)
		}
	}
}

// TestRequirement: a host that does not meet a requirement tells so and keeps
// nothing.
func TestRequirement(t *testing.T) {
	r := newRig(t, memory.Options{})
	before := r.kept()
	_, err := r.apply(`stage "host" {
  require_capability "nspawn" {
    failure_reason = "NoContainers"
    executable     = "systemd-nspawn-of-another-world"
  }
}
`)
	if err == nil {
		t.Fatal("it did not fail")
	}
	s, _ := r.last()
	if s.Result != sink.Failed || s.Stage != "host" || s.Step != "require_capability.nspawn" || s.Reason != "NoContainers" || s.Phase != "absent" ||
		!strings.Contains(s.Cause, "systemd-nspawn-of-another-world") || s.Advice == "" {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff(before, r.kept()); d != "" {
		t.Errorf("a refusal writes:\n%s", d)
	}
	if runs := r.runs(); len(runs) != 1 || runs[0].Reason != "NoContainers" || runs[0].Recipe != "site" {
		t.Errorf("%+v", runs)
	}
}

// TestRecovered: after a run that failed, one that finds everything as wanted
// is told, once.
func TestRecovered(t *testing.T) {
	r := newRig(t, memory.Options{})
	if _, err := r.apply(motd); err != nil {
		t.Fatal(err)
	}
	held, err := r.Host().Locks.Acquire(context.Background(), host.LockExclusive, host.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ensure(); err == nil {
		t.Fatal("the lock is held")
	}
	if err := held(); err != nil {
		t.Fatal(err)
	}
	if runs := r.runs(); len(runs) != 1 {
		t.Errorf("a run that had no lock is kept: %+v", runs)
	}
	if err := host.Remove(r.Host().Files, "/etc/motd"); err != nil {
		t.Fatal(err)
	}
	if err := r.Host().Files.Mkdir("/etc/motd", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ensure(); err == nil {
		t.Fatal("a directory was replaced")
	}
	if s, _ := r.last(); s.Result != sink.Failed || s.Phase != "complete" {
		t.Errorf("%+v", s)
	}
	if err := host.Remove(r.Host().Files, "/etc/motd"); err != nil {
		t.Fatal(err)
	}
	if err := host.Replace(r.Host().Files, "/etc/motd", host.Content{Bytes: []byte("hello\n"), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	s, n := r.last()
	if s.Result != sink.OK || s.Changed != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	if _, now := r.last(); now != n {
		t.Error("it is told again")
	}
}

// TestNeverDelays: a receiver that is down warns, fails nothing and delays the
// run by its bound at most.
func TestNeverDelays(t *testing.T) {
	r := newRig(t, memory.Options{})
	r.down = true
	began := time.Now()
	out, err := r.apply(motd)
	if took := time.Since(began); err != nil || out.Word != "ok" || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	if len(out.Warnings) != 1 || out.Warnings[0].Summary != "Status not told" || !strings.Contains(out.Warnings[0].Detail, "status_sink.hook: ") || !strings.Contains(out.Warnings[0].Detail, "503") {
		t.Errorf("%v", out.Warnings)
	}
	// No terminal.
	if err := host.Remove(r.Host().Files, "/dev/console"); err != nil {
		t.Fatal(err)
	}
}

// TestR150NoToken: a sink whose sensitive token has no value in a run is not
// told of it, and says so.
func TestR150NoToken(t *testing.T) {
	body := motd + `status_sink "secret" {
  timeout = "300ms"
  webhook {
    url   = "https://hooks.example/status"
    token = var.token
  }
}
`
	r := newRig(t, memory.Options{})
	if _, err := r.apply(body, "token=tok-tok-tok"); err != nil {
		t.Fatal(err)
	}
	if err := host.Remove(r.Host().Files, "/etc/motd"); err != nil {
		t.Fatal(err)
	}
	out, err := r.ensure()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, w := range out.Warnings {
		found = found || strings.Contains(w.Detail, "status_sink.secret: its token is the sensitive token, which has no value in this run")
	}
	if !found {
		t.Errorf("%v", out.Warnings)
	}
	if strings.Contains(fmt.Sprint(out.Warnings), "tok-tok-tok") {
		t.Error("the token is in a warning")
	}
	if err := host.Remove(r.Host().Files, "/etc/motd"); err != nil {
		t.Fatal(err)
	}
	out, err = r.ensure("token=tok-tok-tok")
	if err != nil || len(out.Warnings) > 0 && strings.Contains(out.Warnings[0].Detail, "no value in this run") {
		t.Errorf("%v, %v", err, out.Warnings)
	}
}

// TestDied: a run that was killed is in the history, put there by the next one.
func TestDied(t *testing.T) {
	r := newRig(t, memory.Options{Executables: []string{"killer"}, Programs: map[string]memory.Program{
		"killer": func(memory.Invocation) host.CommandResult { panic("killed") },
	}})
	body := motd + "stage \"end\" {\n  command \"k\" {\n    argv    = [\"killer\"]\n    creates = \"/run/k\"\n  }\n}\n"
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it was not killed")
			}
		}()
		_, _ = r.apply(body)
	}()
	r.Crash()
	if runs := r.runs(); len(runs) != 0 {
		t.Errorf("%+v", runs)
	}
	if _, err := r.apply(motd); err != nil {
		t.Fatal(err)
	}
	runs := r.runs()
	if len(runs) != 2 || runs[1].Result != "died" || runs[1].Command != "apply" || runs[1].Recipe != "site" || runs[0].Result != "ok" {
		t.Errorf("%+v", runs)
	}
	if _, err := r.ensure(); err != nil {
		t.Fatal(err)
	}
	if runs := r.runs(); len(runs) != 3 {
		t.Errorf("it died again: %+v", runs)
	}
}

// TestNotKept: a history that cannot be written fails no run.
func TestNotKept(t *testing.T) {
	r := newRig(t, memory.Options{Files: map[string]memory.File{"/run/hostler/runs": {Content: "in the way"}}})
	if err := r.Host().Files.Chmod("/run/hostler", 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := r.apply(motd)
	if err != nil || out.Word != "ok" {
		t.Fatal(err)
	}
	if len(out.Warnings) == 0 || out.Warnings[0].Summary != "Run not kept" || !strings.Contains(out.Warnings[0].Detail, "/run/hostler/runs") {
		t.Errorf("%v", out.Warnings)
	}
}
