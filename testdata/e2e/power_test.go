//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// powerRounds is how many rounds of three power losses each of the hosts goes
// through.
const powerRounds = 2

// TestPowerLossAnywhere takes the power from a host at a moment that the seed
// chooses, in an apply, an update and a reset, with every store and in every
// order a journal may leave things. What was begun is finished or undone after
// the next boot, as if nothing had happened.
func TestPowerLossAnywhere(t *testing.T) {
	seed := *firstSeed + 1000
	for _, store := range []lab.Store{lab.DiskXFS, lab.DiskExt4} {
		for _, loss := range []lab.Loss{lab.Plain, lab.LogFlush} {
			first := seed
			seed += 3 * powerRounds
			t.Run(fmt.Sprintf("%s, %s", storeName(store), lossName(loss)), func(t *testing.T) {
				t.Parallel()
				s := newSubject(t, lab.Options{Store: store})
				for i := range powerRounds {
					s.darkRound(first+3*i, loss)
				}
			})
		}
	}
}

func storeName(s lab.Store) string {
	return map[lab.Store]string{lab.DiskXFS: "xfs", lab.DiskExt4: "ext4"}[s]
}

func lossName(l lab.Loss) string {
	return map[lab.Loss]string{lab.Plain: "all that was not synced", lab.LogFlush: "data that was not synced"}[l]
}

// darkRound is a round with power losses in the place of kills.
func (s *subject) darkRound(seed int, loss lab.Loss) {
	s.t.Helper()
	way := random(seed).IntN(2)
	when := s.darken(seed, loss, "apply", release1)
	s.intact(s.clean, s.first, when)
	if way == 0 {
		s.do("reset")
		s.is(s.clean, when+", and a reset")
	}
	s.do("ensure", release1)
	s.settled(s.first, when)

	when = s.darken(seed+1, loss, "apply", release2)
	s.intact(s.first, s.second, when)
	s.do("ensure")
	s.do("apply", release2)
	s.settled(s.second, when)

	when = s.darken(seed+2, loss, "reset", "")
	s.intact(s.second, s.clean, when)
	s.do("reset")
	s.is(s.clean, when)
}

// settled fails the test unless the host is in a state and hostler finds
// nothing to do.
func (s *subject) settled(want world, when string) {
	s.t.Helper()
	s.is(want, when)
	s.healthy(when)
}

// darken takes the power while a command runs, and boots.
func (s *subject) darken(seed int, loss lab.Loss, verb, recipe string) (when string) {
	s.t.Helper()
	s.MustExec("sync") // what the tests did before is not what is tested
	r := random(seed)
	delay := time.Duration(r.Float64() * 1.05 * float64(s.took[verb+recipe]))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := s.begin(ctx, s.command(verb, recipe))
	select {
	case <-time.After(delay):
	case <-ended:
	}
	s.PowerLoss(loss)
	<-ended
	s.Boot()
	when = fmt.Sprintf("seed %d: power lost %v after the start of %s %s", seed, delay, verb, recipe)
	s.t.Log(when)
	return when
}

// begin starts a command in the host; the channel is closed when it has ended.
func (s *subject) begin(ctx context.Context, argv []string) <-chan struct{} {
	s.t.Helper()
	line := append([]string{"--target", strconv.Itoa(s.Leader()), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}, argv...)
	cmd := exec.CommandContext(ctx, "nsenter", line...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed with its host
		close(ended)
	}()
	return ended
}
