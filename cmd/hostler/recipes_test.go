package main

import (
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hostler/interpreter/report"
	"hostler/testdata/demo/fixture"
)

var update = flag.Bool("update", false, "write golden files")

// runProgram runs the program in this process and returns what it wrote.
func runProgram(args ...string) (out, notes string, code int) {
	var o, e strings.Builder
	code = run(args, streams{
		in: strings.NewReader(""), out: report.Pen{W: &o}, err: report.Pen{W: &e}, width: plainWidth,
		self: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("the program")), nil },
		env:  func(string) (string, bool) { return "", false }, environ: func() []string { return nil },
	})
	return o.String(), e.String(), code
}

// must is runProgram for what must succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, notes, code := runProgram(args...)
	if code != exitDone {
		t.Fatalf("hostler %s: exit status %d\n%s\n%s", strings.Join(args, " "), code, out, notes)
	}
	return out
}

// everyRecipe lists the directories of all recipes of the tree but for the
// shared ones, which those that use them show.
func everyRecipe(t *testing.T) (dirs []string) {
	t.Helper()
	for _, top := range []string{"../../recipes", "../../examples", "../../testdata/demo"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "previous" {
				return fs.SkipDir
			}
			if err == nil && d.Name() == "recipe.hcl" && !strings.Contains(filepath.ToSlash(name), "/shared/") {
				dirs = append(dirs, filepath.Dir(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(dirs) < 3 {
		t.Fatalf("only %v", dirs)
	}
	return dirs
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestEveryRecipe: each is valid and formatted; on its host the plan is the
// golden one and is exactly what apply then does; a second apply changes
// nothing; reset restores the host.
func TestEveryRecipe(t *testing.T) {
	for _, dir := range everyRecipe(t) {
		t.Run(strings.TrimPrefix(dir, "../../"), func(t *testing.T) {
			must(t, "validate", dir)
			if out := must(t, "fmt", "-check", "-diff", dir); out != "" {
				t.Error(out)
			}
			root := filepath.Join(t.TempDir(), "host")
			if err := fixture.Debian(root); err != nil {
				t.Fatal(err)
			}
			if osRelease := filepath.Join(dir, "tests/fixtures/os-release"); exists(osRelease) {
				if err := os.WriteFile(filepath.Join(root, "usr/lib/os-release"), read(t, osRelease), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := fixture.Layout(filepath.Join(root, "srv/worker-image")); err != nil {
				t.Fatal(err)
			}
			args := []string{dir, "--root", root}
			if inputs := filepath.Join(dir, "tests/golden/inputs.hcl"); exists(inputs) {
				args = append(args, "--inputs", inputs)
			}
			law(t, root, args, filepath.Join(dir, "tests/golden/plan.txt"))
		})
	}
}

// TestEveryRecipeTest runs the tests of all recipes of the tree, without the
// laws, which interpreter tries on them. Those of the examples leave nothing
// out.
func TestEveryRecipeTest(t *testing.T) {
	must(t, "test", "--no-laws", "../../recipes")
	if out := must(t, "test", "--no-laws", "--coverage", "../../examples"); strings.Contains(out, "not seen: ") {
		t.Errorf("tests leave out parts of recipes:\n%s", out)
	}
}

func law(t *testing.T, root string, args []string, golden string) {
	command := func(name string, more ...string) []string { return slices.Concat([]string{name}, args, more) }
	before := tree(t, root, true)
	compareGolden(t, golden, must(t, command("plan")...))
	plan := planOf(t, must(t, command("plan", "--output", "json")...))
	if diff := fixture.Differing(before, tree(t, root, true)); diff != "" {
		t.Fatalf("plan wrote to the host:\n%s", diff)
	}
	plain := tree(t, root, false)

	planIsApply(t, plan, must(t, command("apply", "--output", "json")...))

	applied := tree(t, root, true)
	again := must(t, command("apply", "--output", "json")...)
	for _, e := range stepsOf(t, again) {
		if e.Changed {
			t.Errorf("the second apply changed %s: %s (%s)", e.Address, e.Action, e.Reason)
		}
	}
	if diff := fixture.Differing(applied, tree(t, root, true)); diff != "" {
		t.Errorf("the second apply wrote to the host:\n%s", diff)
	}
	must(t, "verify", "--root", root)
	nothingLeft(t, must(t, command("plan", "--output", "json")...))

	must(t, "reset", "--root", root)
	if diff := fixture.Differing(plain, tree(t, root, false)); diff != "" {
		t.Errorf("reset did not restore the host:\n%s", diff)
	}
}

// nothingLeft: a plan has nothing to do. What a host must have is not known of
// one that does not run.
func nothingLeft(t *testing.T, plan string) {
	t.Helper()
	for _, s := range planOf(t, plan) {
		if s.Action != "none" && (s.Action != "unknown" || !strings.Contains(s.Address, "require_capability.")) {
			t.Errorf("after an apply the plan has %s: %s (%s)", s.Address, s.Action, s.Reason)
		}
	}
}

// step is an action, of a plan or of a run.
type step struct {
	Type    string `json:"type"`
	Stage   string `json:"stage"`
	Address string `json:"address"`
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Changed bool   `json:"changed"`
}

func planOf(t *testing.T, text string) []step {
	t.Helper()
	var doc struct {
		Actions []step `json:"actions"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Actions
}

// stepsOf are the steps that finished in a run.
func stepsOf(t *testing.T, text string) (steps []step) {
	t.Helper()
	for line := range strings.Lines(text) {
		var s step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Type == "step_finished" {
			steps = append(steps, s)
		}
	}
	return steps
}

// planIsApply: what apply did is what the plan said, in the same order. What
// the plan could not know is left out.
func planIsApply(t *testing.T, plan []step, applied string) {
	t.Helper()
	done := stepsOf(t, applied)
	if len(done) != len(plan) {
		t.Fatalf("the plan has %d steps and apply did %d", len(plan), len(done))
	}
	for i, want := range plan {
		got := done[i]
		if changed := got.Action != "none"; got.Changed != changed {
			t.Errorf("%s: %s is reported as changed: %v", got.Address, got.Action, got.Changed)
		}
		if want.Action == "unknown" {
			got.Action, got.Reason = want.Action, want.Reason
		}
		got.Type, got.Changed, want.Type = "", false, ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d (-plan +apply):\n%s", i, diff)
		}
	}
}

func tree(t *testing.T, root string, inodes bool) string {
	t.Helper()
	text, err := fixture.Tree(root, inodes)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; go test ./cmd/hostler -update writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the plan is another one; go test ./cmd/hostler -update writes it (-want +got):\n%s", diff)
	}
}
