package linux

import (
	"context"
	"fmt"
	"strings"

	"hostler/interpreter/host"
)

// detail says, as far as it can be found out, why a job did not end well; "" if
// it cannot.
func (u units) detail(ctx context.Context, name string, result host.JobResult) string {
	switch result {
	case "dependency":
		return strings.Join(u.failedDependencies(ctx, name, map[string]bool{}), ", ")
	case "canceled":
		return "another job took its place, or it was cancelled"
	case "assert":
		return "an Assert…= of the unit does not hold"
	}
	state, err := u.Unit(ctx, name)
	if err != nil || state.Result == "" || state.Result == "success" {
		return ""
	}
	return how(state)
}

// how says how a unit failed, in systemd's words.
func how(u host.UnitState) string {
	switch {
	case u.Result == "start-limit-hit":
		return "it was started too often in a short time (start-limit-hit)"
	case u.ExecMainCode == 1 && u.ExecMainStatus != 0:
		return fmt.Sprintf("%s, exit status %d", u.Result, u.ExecMainStatus)
	}
	return u.Result
}

// failedDependencies are the units, needed by name directly or through others,
// that are not as they have to be, each with what is wrong. seen keeps it from
// going around in circles.
func (u units) failedDependencies(ctx context.Context, name string, seen map[string]bool) []string {
	p, err := u.properties(ctx, name)
	if err != nil {
		return nil
	}
	var found []string
	for _, kind := range []string{"Requires", "BindsTo", "Requisite"} {
		for _, needed := range p.names(kind) {
			if seen[needed] {
				continue
			}
			seen[needed] = true
			found = append(found, u.whatIsWrong(ctx, needed, kind, seen)...)
		}
	}
	return found
}

func (u units) whatIsWrong(ctx context.Context, name, kind string, seen map[string]bool) []string {
	state, err := u.Unit(ctx, name)
	switch {
	case err != nil:
		return nil
	case state.ActiveState == "failed":
		return []string{fmt.Sprintf("%s failed (%s)", name, how(state))}
	case state.Running():
		return nil
	case state.LoadState != "loaded" && state.LoadState != "":
		return []string{fmt.Sprintf("%s is %s", name, state.LoadState)}
	}
	if deeper := u.failedDependencies(ctx, name, seen); len(deeper) > 0 || kind != "Requisite" {
		return deeper
	}
	return []string{name + " is not active"}
}
