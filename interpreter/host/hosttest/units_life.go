package hosttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// lifeCases follow units from start to stop.
func lifeCases() map[string]func(manager) {
	return map[string]func(manager){
		"the manager":                    managerState,
		"a unit that is not there":       absentUnit,
		"a service's life":               serviceLife,
		"a oneshot":                      oneshotLife,
		"a oneshot that remains":         oneshotRemains,
		"restart and try-restart":        restarting,
		"reload of a unit":               reloadUnit,
		"a queued job":                   queuedJob,
		"a wait that is given up":        givenUp,
		"a template's instance":          instance,
		"timestamps are monotonic times": timestamps,
	}
}

func managerState(m manager) {
	s, err := m.Units.Manager(m.Context())
	m.ok(err)
	states := []string{"initializing", "starting", "running", "degraded", "maintenance", "stopping"}
	if s.Version < 200 || !slices.Contains(states, s.State) {
		m.Errorf("the manager is %+v", s)
	}
}

func absentUnit(m manager) {
	u := m.unit("none.service")
	if u.LoadState != "not-found" || u.ActiveState != "inactive" || u.Running() || u.InvocationID != "" {
		m.Errorf("an absent unit is %+v", u)
	}
	for _, verb := range []host.JobVerb{host.JobStart, host.JobStop, host.JobRestart} {
		if err := m.try(verb, "none.service"); !errors.Is(err, host.ErrNoUnit) {
			m.Errorf("%s of an absent unit: %v, want host.ErrNoUnit", verb, err)
		}
	}
	if err := m.Units.Queue(m.Context(), host.JobStart, prefix+"none.service"); !errors.Is(err, host.ErrNoUnit) {
		m.Errorf("queueing a start of an absent unit: %v, want host.ErrNoUnit", err)
	}
	m.ok(m.Units.ResetFailed(m.Context(), prefix+"none.service"))
	if _, err := m.Units.Log(m.Context(), prefix+"none.service", 5); err != nil {
		m.Errorf("the log of an absent unit: %v", err)
	}
}

func serviceLife(m manager) {
	m.load("a.service", service+stay)
	u := m.unit("a.service")
	if u.Name != prefix+"a.service" || u.LoadState != "loaded" || u.ActiveState != "inactive" || u.Type != "simple" {
		m.Errorf("a loaded unit is %+v", u)
	}
	if u.FragmentPath != UnitDir+"/"+prefix+"a.service" || u.UnitFileState != "static" || u.InvocationID != "" {
		m.Errorf("a loaded unit is %+v", u)
	}
	m.run(host.JobStart, "a.service")
	first := m.active("a.service", "active")
	if first.SubState != "running" || first.MainPID <= 0 || !hexID(first.InvocationID) || !first.Running() {
		m.Errorf("a running unit is %+v", first)
	}
	if first.Result != "success" || !first.ConditionResult || !first.AssertResult {
		m.Errorf("a running unit is %+v", first)
	}
	m.run(host.JobStart, "a.service")
	if again := m.unit("a.service"); again.InvocationID != first.InvocationID {
		m.Error("starting a running unit restarts it")
	}
	m.run(host.JobStop, "a.service")
	if u := m.active("a.service", "inactive"); u.SubState != "dead" || u.MainPID != 0 || u.Running() {
		m.Errorf("a stopped unit is %+v", u)
	}
	m.run(host.JobStop, "a.service")
}

func hexID(id string) bool { return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" }

func oneshotLife(m manager) {
	m.load("a.service", oneshot+succeed)
	m.keep("a.service")
	m.run(host.JobStart, "a.service")
	u := m.active("a.service", "inactive")
	if u.Type != "oneshot" || u.Result != "success" || u.ExecMainCode != 1 || u.ExecMainStatus != 0 || u.RemainAfterExit {
		m.Errorf("a oneshot that has run is %+v", u)
	}
	first := u.InactiveExit
	m.ok(m.Clock.Sleep(m.Context(), time.Millisecond))
	m.run(host.JobStart, "a.service")
	if again := m.active("a.service", "inactive"); again.InactiveExit <= first || first == 0 {
		m.Errorf("the oneshot ran at %v and then at %v", first, again.InactiveExit)
	}
}

func oneshotRemains(m manager) {
	m.load("a.service", oneshot+succeed+remain)
	m.run(host.JobStart, "a.service")
	u := m.active("a.service", "active")
	if u.SubState != "exited" || !u.RemainAfterExit || u.MainPID != 0 {
		m.Errorf("a oneshot that remains is %+v", u)
	}
	m.run(host.JobStart, "a.service")
	if again := m.unit("a.service"); again.InvocationID != u.InvocationID {
		m.Error("starting an active oneshot runs it again")
	}
}

func restarting(m manager) {
	m.load("a.service", service+stay)
	m.run(host.JobTryRestart, "a.service")
	if u := m.unit("a.service"); u.ActiveState != "inactive" {
		m.Errorf("try-restart of a stopped unit leaves it %s", u.ActiveState)
	}
	ids := map[string]bool{}
	for _, verb := range []host.JobVerb{host.JobRestart, host.JobRestart, host.JobTryRestart} {
		m.run(verb, "a.service")
		ids[m.active("a.service", "active").InvocationID] = true
	}
	if len(ids) != 3 {
		m.Errorf("three restarts give the invocations %v", ids)
	}
	if u := m.unit("a.service"); u.NRestarts != 0 {
		m.Errorf("restarts by hand are counted as the manager's: %d", u.NRestarts)
	}
}

func reloadUnit(m manager) {
	m.load("a.service", service+stay+"ExecReload=/bin/true\n")
	m.run(host.JobStart, "a.service")
	before := m.active("a.service", "active")
	m.run(host.JobReload, "a.service")
	if after := m.active("a.service", "active"); after.InvocationID != before.InvocationID {
		m.Error("a reload begins a new invocation")
	}
	m.load("b.service", service+stay)
	m.run(host.JobStart, "b.service")
	if err := m.try(host.JobReload, "b.service"); err == nil {
		m.Error("a unit without ExecReload can be reloaded")
	}
}

func queuedJob(m manager) {
	m.load("a.service", service+stay)
	m.ok(m.Units.Queue(m.Context(), host.JobStart, prefix+"a.service"))
	m.active("a.service", "active")
	m.ok(m.Units.Queue(m.Context(), host.JobStop, prefix+"a.service"))
	m.active("a.service", "inactive")
}

// givenUp allows a host whose clock jumps: there the oneshot may be over.
func givenUp(m manager) {
	m.load("a.service", oneshot+"ExecStart=/bin/sleep 30\nTimeoutStartSec=infinity\n")
	before := m.Clock.Monotonic()
	ctx, end := context.WithTimeout(m.Context(), 300*time.Millisecond)
	defer end()
	err := m.Units.Run(ctx, host.JobStart, prefix+"a.service")
	if err == nil && m.Clock.Monotonic()-before >= 30*time.Second {
		return
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		m.Fatalf("a wait that ran out: %v", err)
	}
	if u := m.unit("a.service"); u.ActiveState != "activating" || u.JobType != "start" {
		m.Errorf("the job was cancelled with the wait: %+v", u)
	}
	m.run(host.JobStop, "a.service")
}

func instance(m manager) {
	m.load("t@.service", service+stay)
	m.run(host.JobStart, "t@one.service")
	u := m.active("t@one.service", "active")
	m.run(host.JobStop, "t@one.service")
	if u.Name != prefix+"t@one.service" || u.FragmentPath != UnitDir+"/"+prefix+"t@.service" {
		m.Errorf("an instance is %+v", u)
	}
	if other := m.unit("t@two.service"); other.ActiveState != "inactive" || other.LoadState != "loaded" {
		m.Errorf("another instance is %+v", other)
	}
}

func timestamps(m manager) {
	m.load("a.service", service+stay)
	if u := m.unit("a.service"); u.ActiveEnter != 0 || u.InactiveExit != 0 {
		m.Errorf("a unit that never ran was active at %v", u.ActiveEnter)
	}
	before := m.Clock.Monotonic()
	m.run(host.JobStart, "a.service")
	u := m.active("a.service", "active")
	// The manager counts in microseconds.
	if u.ActiveEnter < before.Truncate(time.Microsecond) || u.ActiveEnter > m.Clock.Monotonic() || u.InactiveExit > u.ActiveEnter {
		m.Errorf("started after %v, active at %v, left inactive at %v", before, u.ActiveEnter, u.InactiveExit)
	}
}
