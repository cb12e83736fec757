package hosttest

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/host"
)

// UnitDir is where the suite puts its unit files: below /run, so that a host
// forgets them when it is restarted.
const UnitDir = "/run/systemd/system"

// Units runs the contract of the unit door of a running host. The suite's
// units run /bin/true, /bin/false and /bin/sleep, start nothing else and are
// stopped and removed when a case ends. On a real manager it needs root.
func Units(t *testing.T, newHost func(t *testing.T) host.Host) {
	UnitLife(t, newHost)
	UnitLoad(t, newHost)
	UnitFailures(t, newHost)
}

// UnitLife is the part of [Units] that follows units from start to stop.
func UnitLife(t *testing.T, newHost func(t *testing.T) host.Host) {
	runUnits(t, newHost, lifeCases())
}

// UnitLoad is the part of [Units] about unit files and what Reload makes of
// them.
func UnitLoad(t *testing.T, newHost func(t *testing.T) host.Host) {
	runUnits(t, newHost, loadCases())
}

// UnitFailures is the part of [Units] about jobs and units that fail.
func UnitFailures(t *testing.T, newHost func(t *testing.T) host.Host) {
	runUnits(t, newHost, failureCases())
}

func runUnits(t *testing.T, newHost func(t *testing.T) host.Host, cases map[string]func(manager)) {
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			m := manager{t, newHost(t)}
			m.ok(m.Files.MkdirAll(UnitDir, 0o755))
			t.Cleanup(m.clean)
			m.clean()
			run(m)
		})
	}
}

// manager is a host under test and short ways to say what is expected of its
// units. Names of units are given without "hosttest-".
type manager struct {
	*testing.T
	host.Host
}

const prefix = "hosttest-"

// What the suite's units run.
const (
	succeed = "ExecStart=/bin/true\n"
	fail    = "ExecStart=/bin/false\n"
	stay    = "ExecStart=/bin/sleep 100000\n"
	oneshot = "[Service]\nType=oneshot\n"
	service = "[Service]\n"
	remain  = "RemainAfterExit=yes\n"
)

func (m manager) ok(err error) {
	m.Helper()
	if err != nil {
		m.Fatalf("unexpected error: %v", err)
	}
}

// clean stops and removes every unit of the suite.
func (m manager) clean() {
	ctx := context.Background()
	d, err := m.Files.Open(UnitDir)
	m.ok(err)
	names, err := d.Readdirnames(-1)
	m.ok(errors.Join(err, d.Close()))
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if strings.HasSuffix(name, ".service") && !strings.HasSuffix(name, "@.service") {
			_ = m.Units.Run(ctx, host.JobStop, name) // some cannot be stopped
			_ = m.Units.ResetFailed(ctx, name)
		}
		m.ok(m.Files.RemoveAll(path.Join(UnitDir, name)))
	}
	m.ok(m.Units.Reload(ctx))
}

// put writes a file below UnitDir and its parents.
func (m manager) put(name, content string) {
	m.Helper()
	full := path.Join(UnitDir, prefix+name)
	m.ok(m.Files.MkdirAll(path.Dir(full), 0o755))
	m.ok(host.Replace(m.Files, full, host.Content{Bytes: []byte(content), Mode: 0o644}))
}

// load writes a unit file and makes it known.
func (m manager) load(name, content string) {
	m.Helper()
	m.put(name, content)
	m.reload()
}

func (m manager) reload() {
	m.Helper()
	m.ok(m.Units.Reload(m.Context()))
}

// keep makes the manager remember how the unit ended: an inactive unit that no
// other refers to is forgotten at once.
func (m manager) keep(name string) {
	m.Helper()
	m.load("keep.service", "[Unit]\nAfter="+prefix+name+"\n"+service+stay)
	m.run(host.JobStart, "keep.service")
}

func (m manager) try(verb host.JobVerb, name string) error {
	ctx, end := context.WithTimeout(m.Context(), time.Minute)
	defer end()
	return m.Units.Run(ctx, verb, prefix+name)
}

func (m manager) run(verb host.JobVerb, name string) {
	m.Helper()
	m.ok(m.try(verb, name))
}

func (m manager) unit(name string) host.UnitState {
	m.Helper()
	u, err := m.Units.Unit(m.Context(), prefix+name)
	m.ok(err)
	return u
}

// until waits for a state, on the host's own clock.
func (m manager) until(name, what string, reached func(host.UnitState) bool) host.UnitState {
	m.Helper()
	var u host.UnitState
	for range 400 {
		if u = m.unit(name); reached(u) {
			return u
		}
		m.ok(m.Clock.Sleep(m.Context(), 50*time.Millisecond))
	}
	m.Fatalf("%s is not %s: %+v", name, what, u)
	return u
}

func (m manager) active(name, state string) host.UnitState {
	m.Helper()
	return m.until(name, state, func(u host.UnitState) bool { return u.ActiveState == state })
}

// jobFails checks the result of a job that did not end well.
func (m manager) jobFails(verb host.JobVerb, name string, want host.JobResult) {
	m.Helper()
	err := m.try(verb, name)
	e, ok := errors.AsType[*host.JobError](err)
	if !ok || e.Result != want || e.Verb != verb || e.Unit != prefix+name {
		m.Errorf("%s of %s: %v, want a *host.JobError with result %q", verb, name, err, want)
	}
}
