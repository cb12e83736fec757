package interpreter_test

import (
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host/memory"
)

// TestAUnitThatIsGoneIsNotStartedAgain: what brought a unit that ran before us
// was removed meanwhile. The reset says so and goes on.
func TestAUnitThatIsGoneIsNotStartedAgain(t *testing.T) {
	r := newRig(t, memory.Options{Units: []memory.Unit{{Name: "noise.service", Running: true}, {Name: "quiet.service", Running: true}}})
	r.must(apply, a(`systemd_unit "noise.service" { state = "stopped" }
systemd_unit "quiet.service" { state = "stopped" }`))
	r.remove("/usr/lib/systemd/system/noise.service")
	r.ok(r.Host().Units.Reload(t.Context()))
	if out := r.must(reset, nothing); out.Phase != "absent" {
		t.Errorf("the phase is %s", out.Phase)
	}
	if !slices.ContainsFunc(r.warned(), func(w string) bool { return strings.Contains(w, "there is no such unit any more") }) {
		t.Errorf("warnings: %q", r.warned())
	}
	if u := r.unit("quiet.service"); u.ActiveState != "active" {
		t.Errorf("quiet.service is %s", u.ActiveState)
	}
}
