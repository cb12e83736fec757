package resident

import (
	"context"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/delivery"
	"hostler/interpreter/host"
)

// TestStartedTooOftenIsNoFailure: who starts a healthy daemon again and again by
// hand uses up its start limit, and the recovery unit takes nothing back; a
// person may, and one that ends again and again is taken back, however it ends.
func TestStartedTooOftenIsNoFailure(t *testing.T) {
	s := newSite(t, recipe)
	_, err := s.upgrade("two")
	s.ok(err)
	roll := func(own string) error {
		s.own = own
		_, err := Upgrade{Interpreter: s.interpreter()}.RollBack(context.Background())
		return err
	}
	restart := func() error { return s.Host().Units.Run(context.Background(), host.JobRestart, delivery.DaemonUnit) }
	for range 10 {
		if err = restart(); err != nil {
			break
		}
	}
	if u := s.unit(delivery.DaemonUnit); err == nil || u.Result != "start-limit-hit" || u.NRestarts != 0 {
		t.Fatalf("%v, %+v", err, u)
	}
	if err := roll(delivery.RecoveryUnit); !nothingBack(err) || !strings.Contains(err.Error(), "started too often") {
		t.Errorf("the recovery unit: %v", err)
	}
	s.runs("two", "old")
	s.ok(roll(""))
	s.runs("old", "old")

	_, err = s.upgrade("three")
	s.ok(err)
	s.Advance(time.Minute)
	s.put(bin+"hostler-green", "slow crash")
	s.ok(restart())
	for range 10 {
		s.Advance(70 * time.Second)
	}
	if u := s.unit(delivery.DaemonUnit); u.ActiveState != "failed" {
		t.Fatalf("one that dies a minute after each start goes on: %+v", u)
	}
	s.ok(roll(delivery.RecoveryUnit))
	s.runs("old", "old")
}
