//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"hostler/testdata/lab"
)

// Seeds of the crash test: rounds of three on each of two hosts.
const (
	plainRounds   = 52
	machineRounds = 16
)

// TestKilledAnywhere kills hostler at a moment that the seed chooses, in an
// apply, an update and a reset, then runs it again: the host becomes what it
// becomes without interruption, and after a reset what it was before. No file
// is ever torn.
func TestKilledAnywhere(t *testing.T) {
	t.Run("files and units", func(t *testing.T) {
		t.Parallel()
		s := newSubject(t, lab.Options{Store: lab.DiskXFS})
		for i := range plainRounds {
			s.round(*firstSeed + 3*i)
		}
	})
	t.Run("machine", func(t *testing.T) {
		t.Parallel()
		s := newSubject(t, lab.Options{Store: lab.DiskXFS}, "--var", "image=oci-layout:"+imageDir)
		for i := range machineRounds {
			s.round(*firstSeed + 3*plainRounds + 3*i)
		}
	})
}

// round takes a clean host through a killed apply, a killed update and a killed
// reset; it is clean again then.
func (s *subject) round(seed int) {
	s.t.Helper()
	s.install(seed)
	s.update(seed + 1)
	s.undo(seed + 2)
}

// random is the choice of a seed.
func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0)) }

func (s *subject) install(seed int) {
	s.t.Helper()
	r := random(seed)
	moment, killed := s.kill(r, "apply", release1)
	way := r.IntN(4)
	when := s.note(seed, "apply", moment, killed, way)
	s.intact(s.clean, s.first, when)
	switch way {
	case 0:
		s.do("ensure", release1)
	case 1:
		s.do("apply", release1)
	case 2:
		s.kill(r, "ensure", release1)
		s.intact(s.clean, s.first, when)
		s.do("ensure", release1)
	case 3:
		s.do("reset")
		s.is(s.clean, when+", and a reset")
		s.do("apply", release1)
	}
	s.is(s.first, when)
	s.healthy(when)
}

func (s *subject) update(seed int) {
	s.t.Helper()
	r := random(seed)
	moment, killed := s.kill(r, "apply", release2)
	way := r.IntN(4)
	when := s.note(seed, "update", moment, killed, way)
	s.intact(s.first, s.second, when)
	switch {
	case way == 0:
		s.do("ensure")
	case way == 2:
		s.kill(r, "ensure", "")
		s.intact(s.first, s.second, when)
		s.do("ensure", release2)
	case way == 3 && s.phase() == "installing":
		s.must("apply", "--previous")
		s.is(s.first, when+", and back")
	}
	s.do("apply", release2)
	s.is(s.second, when)
	s.healthy(when)
}

func (s *subject) undo(seed int) {
	s.t.Helper()
	r := random(seed)
	moment, killed := s.kill(r, "reset", "")
	way := r.IntN(4)
	when := s.note(seed, "reset", moment, killed, way)
	s.intact(s.second, s.clean, when)
	switch way {
	case 0:
		s.kill(r, "reset", "")
		s.intact(s.second, s.clean, when)
	case 1:
		if phase := s.phase(); phase == "resetting" {
			s.refused("ensure", release2)
			s.refused("apply", release2)
		}
	}
	s.do("reset")
	s.is(s.clean, when)
	if now := s.times(); fmt.Sprint(now) != fmt.Sprint(s.mtimes) {
		s.t.Fatalf("%s: modification times were %q and are %q", when, s.mtimes, now)
	}
}

// note logs what a seed means.
func (s *subject) note(seed int, verb, moment string, killed bool, way int) string {
	s.t.Helper()
	when := fmt.Sprintf("seed %d: %s killed %s (way %d)", seed, verb, moment, way)
	if !killed {
		when = fmt.Sprintf("seed %d: %s done, to be killed %s (way %d)", seed, verb, moment, way)
	}
	s.t.Log(when)
	return when
}

// must runs a command that must succeed.
func (s *subject) must(args ...string) {
	s.t.Helper()
	if res := s.Exec(append([]string{program}, args...)...); res.Code != 0 {
		s.t.Fatalf("hostler %q: %s", args, res)
	}
}

// refused runs a command that must be refused.
func (s *subject) refused(verb, recipe string) {
	s.t.Helper()
	if res := s.Exec(s.command(verb, recipe)...); res.Code != 73 {
		s.t.Fatalf("hostler %s %s is not refused: %s", verb, recipe, res)
	}
}

// phase is that of the installation.
func (s *subject) phase() string {
	s.t.Helper()
	res := s.Exec(program, "status", "--output", "json")
	var status struct{ Phase string }
	if err := json.Unmarshal([]byte(res.Stdout), &status); err != nil {
		s.t.Fatalf("status: %v: %s", err, res)
	}
	return status.Phase
}
