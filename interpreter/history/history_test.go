package history_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/block"
	"hostler/interpreter/history"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

var update = flag.Bool("update", false, "write the golden files")

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

// watcher is a step that watches others.
type watcher struct {
	block.Step
	watched []string
}

func (w watcher) Watches() ([]string, string) { return w.watched, "a.service" }

// install records an installation that takes seconds and fails in the end.
func install() *history.Recorder {
	r := history.NewRecorder(began)
	r.Clean = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	r.Steps([]block.Placed{{Address: "restart_on_change.a", Step: watcher{watched: []string{"write_file_if_changed.conf", "systemd_unit.u"}}}})
	done := func(from, to int, e walk.Event) {
		e.Kind, e.Time, e.Duration = walk.StepFinished, at(to), time.Duration(to-from)*time.Millisecond
		r.Event(e)
	}
	change := func(a block.Action, why string, things ...string) block.Change {
		c := block.Change{Action: a, Reason: why}
		for _, key := range things {
			c.Diffs = append(c.Diffs, block.Diff{Thing: key})
		}
		return c
	}
	done(0, 2, walk.Event{Address: "require_capability.nspawn", Stage: "host"})
	done(2, 40, walk.Event{
		Address: `write_file_if_changed.conf["x"]`, Type: "write_file_if_changed", Stage: "host",
		Change: change(block.ActionUpdate, "content <differs>", "path:/etc/a.conf", "path:/etc/a.conf"),
		Drift:  []walk.Drift{{Thing: thing.Key("path:/etc/a.conf")}},
	})
	for i, size := range []int64{0, 1 << 20, 40 << 20} {
		r.Event(walk.Event{Kind: walk.Progressed, Address: "nspawn_machine.kube1", Time: at(100 + 700*i), Progress: block.Progress{What: "download", Name: "worker:1", Done: size}})
	}
	r.Event(walk.Event{Kind: walk.Progressed, Address: "nspawn_machine.kube1", Time: at(1510), Progress: block.Progress{What: "unpack", Name: "worker:1"}})
	r.Event(walk.Event{Kind: walk.Progressed, Address: "nspawn_machine.kube1", Time: at(2400), Progress: block.Progress{What: "unpack", Name: "worker:1", Done: 90 << 20}})
	done(40, 2500, walk.Event{Address: "nspawn_machine.kube1", Stage: "machine/rootfs", Change: change(block.ActionCreate, "there is none")})
	r.Event(walk.Event{Kind: walk.Diagnosed, Address: "nspawn_machine.kube1", Warning: block.Warning{Summary: "Passing fault", Detail: "password hunter2 refused"}})
	done(2500, 2900, walk.Event{Address: "restart_on_change.a", Stage: "machine", Change: change(block.ActionRestart, "write_file_if_changed.conf changed")})
	done(2900, 4000, walk.Event{
		Address: "command.join", Stage: "machine", Change: change(block.ActionRun, "not joined"),
		Err: fmt.Errorf("exit status 3: %s", "token hunter2"+strings.Repeat("é", 2000)),
	})
	return r
}

func installed() *history.Run {
	run := install().Run()
	run.Number, run.Command, run.Version, run.Recipe, run.RecipeVersion = 7, "ensure", "0.1.0", "worker", "1.2.0"
	run.DurationUsec, run.Result, run.Phase, run.Changed, run.Unchanged, run.Failed = 4_001_000, "failed", "installing", 3, 1, 1
	run.Stage, run.Step, run.Reason, run.Cause, run.Advice = "machine", "command.join", "JoinFailed", "exit status 3", "look at it"
	return run
}

func TestRecorder(t *testing.T) {
	run := installed()
	if len(run.Steps) != 5 || run.Began != began {
		t.Fatalf("%+v", run)
	}
	conf, machine, restart, join := run.Steps[1], run.Steps[2], run.Steps[3], run.Steps[4]
	if d := cmp.Diff(history.Step{
		Address: `write_file_if_changed.conf["x"]`, Type: "write_file_if_changed", Stage: "host", Action: "update", Reason: "content <differs>",
		StartUsec: 2000, DurationUsec: 38000, Things: []string{"path:/etc/a.conf"}, Drift: []string{"path:/etc/a.conf"},
	}, conf); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]history.Work{
		{What: "download", Name: "worker:1", StartUsec: 100_000, DurationUsec: 1_400_000, Bytes: 40 << 20},
		{What: "unpack", Name: "worker:1", StartUsec: 1_510_000, DurationUsec: 890_000, Bytes: 90 << 20},
	}, machine.Work); d != "" {
		t.Error(d)
	}
	if len(restart.After) != 1 || restart.After[0] != conf.Address || !restart.Did() || join.Did() || run.Steps[0].Did() {
		t.Errorf("%+v", restart)
	}
	if strings.Contains(join.Error, "hunter2") || len(join.Error) > 2010 || !strings.HasSuffix(join.Error, "é…") || run.Warnings[0].Detail != "password *** refused" {
		t.Errorf("%q, %v", join.Error, run.Warnings)
	}
	if run.At(&restart) != at(2900) || run.Ended() != at(4001) {
		t.Errorf("%s, %s", run.At(&restart), run.Ended())
	}
}

// TestPictures holds the pictures to their golden files and to XML.
func TestPictures(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *history.Run) error{"timeline.svg": history.SVG, "timeline.html": history.HTML} {
		var out bytes.Buffer
		if err := write(&out, installed()); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), out.String()); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
		wellFormed(t, name, out.Bytes())
	}
}

func wellFormed(t *testing.T, name string, text []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.Strict, dec.Entity = true, xml.HTMLEntity
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestOddPictures: whatever a run holds, its picture is one.
func TestOddPictures(t *testing.T) {
	many := &history.Run{DurationUsec: 3 * 3600 * 1e6}
	for i := range 300 {
		many.Steps = append(many.Steps, history.Step{Address: strings.Repeat("long.", 40), Action: "create", StartUsec: int64(i) * 36e6, DurationUsec: 36e6, After: []string{"gone"}})
	}
	for name, run := range map[string]*history.Run{
		"empty": {}, "nonsense": {Steps: []history.Step{{Address: "\x00<\xff>", Stage: "]]>&", Action: "?", Error: "\x1b", StartUsec: 1 << 40, DurationUsec: 1}}},
		"many": many,
	} {
		var svg, html bytes.Buffer
		if err := errors.Join(history.SVG(&svg, run), history.HTML(&html, run)); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, name, svg.Bytes())
		wellFormed(t, name, html.Bytes())
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Errorf("%s: no numbers", name)
		}
	}
}

func save(t *testing.T, files host.Files, quiet bool) int {
	t.Helper()
	run := installed()
	if err := history.Save(files, run, quiet); err != nil {
		t.Fatal(err)
	}
	return run.Number
}

func TestStore(t *testing.T) {
	files := memory.New(memory.Options{Files: map[string]memory.File{"/var/lib/keep": {}, "/run/keep": {}}}).Host().Files
	if runs, damaged, err := history.List(files); err != nil || runs != nil || damaged != nil {
		t.Errorf("%v, %v, %v", runs, damaged, err)
	}
	if _, err := history.Find(files, 0); err == nil || !strings.Contains(err.Error(), "no run is kept") {
		t.Error(err)
	}
	for i, quiet := range []bool{false, true, false} {
		if n := save(t, files, quiet); n != i+1 {
			t.Errorf("run %d has number %d", i+1, n)
		}
	}
	for name, want := range map[string]string{
		"/var/lib/hostler": "drwx------", "/var/lib/hostler/worker/runs": "drwx------", "/var/lib/hostler/worker/runs/000001.json": "-rw-------",
		"/run/hostler/runs/000002.json": "-rw-------",
	} {
		if info, err := files.Stat(name); err != nil || info.Mode().String() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for range history.Keep + 5 {
		save(t, files, false)
	}
	for range 30 {
		save(t, files, true)
	}
	runs, damaged, err := history.List(files)
	if err != nil || damaged != nil || len(runs) != history.Keep+20 || runs[0].Number != 88 || runs[len(runs)-1].Number != 9 {
		t.Fatalf("%d runs, %v, %v", len(runs), damaged, err)
	}
	want := installed()
	want.Number = 9
	if got, err := history.Find(files, 9); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if _, err := history.Find(files, 3); err == nil || !strings.Contains(err.Error(), "there is no run 3: 9 to 88 are kept") {
		t.Error(err)
	}
	if err := host.Replace(files, "/var/lib/hostler/worker/runs/000099.json", host.Content{Bytes: []byte("{"), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if _, damaged, err := history.List(files); err != nil || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), "000099.json cannot be read") {
		t.Errorf("%v, %v", damaged, err)
	}
	if n := save(t, files, false); n != 100 {
		t.Errorf("number %d", n)
	}
}

// TestDir: no recipe's name leads into what an installation remembers.
func TestDir(t *testing.T) {
	for name, want := range map[string]string{
		"worker": "/var/lib/hostler/worker/runs", "state": "/var/lib/hostler/recipe-state/runs", "key": "/var/lib/hostler/recipe-key/runs",
	} {
		if got := history.Dir(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestNotPrivate: a directory that others can write to is not used.
func TestNotPrivate(t *testing.T) {
	files := memory.New(memory.Options{Files: map[string]memory.File{"/var/lib/hostler/worker/runs/x": {}}}).Host().Files
	if err := files.Chmod("/var/lib/hostler/worker/runs", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := history.Save(files, installed(), false); err == nil || !strings.Contains(err.Error(), "not a directory of root alone") {
		t.Error(err)
	}
}
