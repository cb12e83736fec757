package memory

import (
	"errors"
	"fmt"
	"time"

	"hostler/interpreter/host"
)

// unit is a unit in the manager's memory.
type unit struct {
	s   *manager
	def *definition

	active, sub, result       string
	code, status, pid         int
	condition, assert         bool
	restarts                  int
	invocation                string
	activeEnter, inactiveExit time.Duration
	checked                   time.Duration // when the conditions were looked at
	log                       []string

	starts      int // since boot
	windowStart time.Duration
	windowCount int
	run         int // counts processes, so that a late end is not taken for another's
}

// set enters a state and takes down when.
func (u *unit) set(active, sub string) {
	now := u.s.m.clock.since()
	if isDown(u.active) && !isDown(active) {
		u.inactiveExit = now
	}
	if active == "active" && u.active != "active" {
		u.activeEnter = now
	}
	u.active, u.sub = active, sub
}

func isDown(active string) bool { return active == "inactive" || active == "failed" }

func (u *unit) say(format string, args ...any) { u.log = append(u.log, fmt.Sprintf(format, args...)) }

// resetFailed clears a failed state and the start limit's count.
func (u *unit) resetFailed() {
	u.windowCount, u.restarts = 0, 0
	if u.active == "failed" {
		u.set("inactive", "dead")
		u.result = "success"
	}
}

// withinLimit counts a start and says whether it is still allowed.
func (u *unit) withinLimit() bool {
	interval := u.def.text.span("Unit", "StartLimitIntervalSec", 10*time.Second)
	burst := number(u.def.text.one("Unit", "StartLimitBurst"), 5)
	now := u.s.m.clock.since()
	if interval <= 0 || burst <= 0 {
		return true
	}
	if u.windowCount == 0 || now-u.windowStart > interval {
		u.windowStart, u.windowCount = now, 0
	}
	u.windowCount++
	return u.windowCount <= burst
}

func number(s string, otherwise int) int {
	n := 0
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil {
		return otherwise
	}
	return n
}

// loadable says why a unit cannot be started, in the manager's words.
func (u *unit) loadable() error {
	name := u.def.name
	switch u.def.loadState {
	case "loaded":
		if tmpl, instance := template(name); instance == "" && tmpl == name && hasAt(name) {
			return fmt.Errorf("unit name %s is missing the instance name", name)
		}
		return nil
	case "not-found":
		return fmt.Errorf("unit %s: %w", name, host.ErrNoUnit)
	case "masked":
		return fmt.Errorf("unit %s is masked", name)
	case "bad-setting":
		return fmt.Errorf("unit %s has a bad unit file setting: %w", name, errors.New(u.def.loadError))
	}
	return fmt.Errorf("unit %s cannot be loaded: %w", name, errors.New(u.def.loadError))
}
