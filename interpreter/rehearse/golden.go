package rehearse

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hostler/interpreter/report"
)

// holdGolden compares a plan with the one that is kept.
func (t *running) holdGolden(run *runBlock, plan report.Plan) {
	var b strings.Builder
	text := report.Text{Out: report.Pen{W: &b}, Notes: report.Pen{W: &b}}
	text.Plan(plan)
	if !fs.ValidPath(run.Golden) {
		t.fail(run.rng, "No such file", "golden = %q is no path below the directory tests.", run.Golden)
		return
	}
	had, err := fs.ReadFile(t.tests, run.Golden)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.fail(run.rng, "Golden plan not readable", "%v.", err)
		return
	}
	switch {
	case err == nil && string(had) == b.String():
	case t.opts.Update:
		t.golden(run.Golden, b.String())
	case err != nil:
		t.fail(run.rng, "No golden plan", "There is no %s. \"hostler test --update\" writes it.", t.Suite.file(run.Golden))
	default:
		t.fail(run.rng, "Another plan", "The plan is not the one in %s; \"hostler test --update\" takes it as it is.\n%s", t.Suite.file(run.Golden), difference(string(had), b.String()))
	}
}

// difference lists the lines that only one of two texts has.
func difference(old, new string) string {
	var out strings.Builder
	had, has := strings.Split(old, "\n"), strings.Split(new, "\n")
	for _, line := range had {
		if !slices.Contains(has, line) {
			fmt.Fprintf(&out, "- %s\n", line)
		}
	}
	for _, line := range has {
		if !slices.Contains(had, line) {
			fmt.Fprintf(&out, "+ %s\n", line)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
