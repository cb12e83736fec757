package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
)

// readYAML reads a file of the repository.
func readYAML(t *testing.T, name string) cty.Value {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	ty, err := ctyyaml.ImpliedType(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ctyyaml.Unmarshal(text, ty)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// badRecipe is a directory with a recipe in which lint finds one thing, and it is
// not laid out.
func badRecipe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := "recipe \"a\" {\n  language = 1\n  version = \"1.0.0\"\n  supports \"debian\" {\n    id = \"debian\"\n  }\n}\n\ndirectory \"d\" {\n  path = \"/srv/d\"\n  mode = 0755\n}\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "site"), 0o755), os.WriteFile(filepath.Join(dir, "site/recipe.hcl"), []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runIn runs a program in a directory.
func runIn(t *testing.T, dir string, env []string, argv ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestPreCommitHooks runs the hooks as pre-commit does: without names of files,
// or with those that changed.
func TestPreCommitHooks(t *testing.T) {
	want := map[string]struct {
		code int
		says string
	}{
		"hostler-lint": {exitFailed, "[bare-mode]"}, "hostler-lint-fix": {exitDone, `fixed: write "0755"`}, "hostler-fmt": {exitDone, "site/recipe.hcl"},
	}
	hooks := readYAML(t, ".pre-commit-hooks.yaml")
	if hooks.LengthInt() != len(want) {
		t.Errorf("%d hooks, want %d", hooks.LengthInt(), len(want))
	}
	for it := hooks.ElementIterator(); it.Next(); {
		_, hook := it.Element()
		id, argv := hook.GetAttr("id").AsString(), strings.Fields(hook.GetAttr("entry").AsString())
		if !hook.Type().HasAttribute("pass_filenames") || hook.GetAttr("pass_filenames").True() {
			argv = append(argv, "site/recipe.hcl")
		}
		out, code := runIn(t, badRecipe(t), nil, argv...)
		if code != want[id].code || !strings.Contains(out, want[id].says) {
			t.Errorf("%s: exit status %d, %s", id, code, out)
		}
	}
}

// TestLintAction runs the script of the GitHub Action as a runner does.
func TestLintAction(t *testing.T) {
	action := readYAML(t, ".github/actions/hostler-lint/action.yml")
	step := action.GetAttr("runs").GetAttr("steps").Index(cty.NumberIntVal(0))
	script := step.GetAttr("run").AsString()
	for name := range step.GetAttr("env").Type().AttributeTypes() {
		input := strings.TrimSuffix(strings.TrimPrefix(step.GetAttr("env").GetAttr(name).AsString(), "${{ inputs."), " }}")
		if !action.GetAttr("inputs").Type().HasAttribute(input) {
			t.Errorf("%s is of %s, which is no input", name, input)
		}
	}
	base := []string{"PATHS=.", "PROFILE=", "SEVERITY=", "OUTPUT=github", "FILE=", "HOSTLER=hostler"}
	for _, test := range []struct {
		env  []string
		code int
		says string
	}{
		{nil, exitFailed, "::error file=site/recipe.hcl,line=11,"},
		{[]string{"PROFILE=strict", "OUTPUT=text"}, exitFailed, "recipe-untested"},
		{[]string{"PATHS=site site/recipe.hcl", "SEVERITY=error", "OUTPUT=text"}, exitFailed, "1 error and 0 warnings in 1 recipe"},
		{[]string{"OUTPUT=sarif", "FILE=out.sarif"}, exitFailed, ""},
		{[]string{"OUTPUT=nonsense"}, exitUsage, "nonsense"},
	} {
		dir := badRecipe(t)
		out, code := runIn(t, dir, append(base, test.env...), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		if code != test.code || !strings.Contains(out, test.says) {
			t.Errorf("%v: exit status %d, %s", test.env, code, out)
		}
		if test.says == "" {
			if text, err := os.ReadFile(filepath.Join(dir, "out.sarif")); err != nil || !strings.Contains(string(text), `"ruleId": "bare-mode"`) {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
}
