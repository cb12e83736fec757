package linux

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"hostler/interpreter/host"
)

// fakeManager is a service manager with units that have properties, and one
// job.
type fakeManager struct {
	*fakeBus
	mu    sync.Mutex
	units map[string]properties // by the escaped name at the end of the path
	// queue is what happens when a job is queued; it ends with result.
	queue  func(m *fakeManager, verb string) *dbus.Error
	queued bool
	calls  []string
	onGet  func(property string)  // of a unit
	refuse map[string]*dbus.Error // by method
}

const jobPath = dbus.ObjectPath("/org/freedesktop/systemd1/job/7")

func newFakeManager(t *testing.T) (*fakeManager, units) {
	t.Helper()
	m := &fakeManager{units: map[string]properties{}, refuse: map[string]*dbus.Error{}}
	m.fakeBus = newFakeBus(t, m.reply)
	manager := newManager("", func(ctx context.Context) (*dbus.Conn, error) {
		return dialSocket(ctx, m.socket, direct)
	}, func() bool { return true })
	t.Cleanup(func() { ok(t, manager.close()) })
	return m, units{manager, &recorder{err: host.ErrNoTool}}
}

func (m *fakeManager) reply(q question) ([]any, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, q.method)
	if refusal := m.refuse[q.method]; refusal != nil {
		return nil, refusal
	}
	switch q.method {
	case "StartUnit", "StopUnit", "RestartUnit", "ReloadUnit", "TryRestartUnit":
		if m.queue == nil {
			return []any{jobPath}, nil
		}
		m.queued = true
		return []any{jobPath}, m.queue(m, q.method)
	case "ListJobs":
		return []any{m.jobs()}, nil
	case "GetAll":
		return m.properties(q.path), nil
	case "Get":
		if strings.Contains(string(q.path), "/unit/") {
			if m.onGet != nil {
				m.onGet(q.args[1].(string))
			}
			all := m.properties(q.path)[0].(map[string]dbus.Variant)
			if v, ok := all[q.args[1].(string)]; ok {
				return []any{v}, nil
			}
			return nil, &dbus.Error{Name: "org.freedesktop.DBus.Error.UnknownProperty"}
		}
		if q.args[1] == "Version" {
			return []any{dbus.MakeVariant("252.39-1")}, nil
		}
		return []any{dbus.MakeVariant("degraded")}, nil
	}
	return nil, nil
}

type jobLine struct {
	ID           uint32
	Unit, Type   string
	State        string
	Path, OfUnit dbus.ObjectPath
}

func (m *fakeManager) jobs() []jobLine {
	if !m.queued {
		return []jobLine{}
	}
	return []jobLine{{7, "a.service", "start", "running", jobPath, "/org/freedesktop/systemd1/unit/a_2eservice"}}
}

func (m *fakeManager) properties(path dbus.ObjectPath) []any {
	name := string(path[strings.LastIndexByte(string(path), '/')+1:])
	all := map[string]dbus.Variant{"Id": dbus.MakeVariant(name), "LoadState": dbus.MakeVariant("not-found"), "ActiveState": dbus.MakeVariant("inactive")}
	for k, v := range m.units[name] {
		all[k] = dbus.MakeVariant(v)
	}
	return []any{all}
}

// end is the end of the job.
func (m *fakeManager) end(result string) {
	m.mu.Lock()
	m.queued = false
	m.mu.Unlock()
	m.broadcast("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager.JobRemoved", uint32(7), jobPath, "a.service", result)
}

func (m *fakeManager) set(name string, p properties) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units[name] = p
}

func (m *fakeManager) refuseWith(method string, refusal *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse[method] = refusal
}

func (m *fakeManager) onQueue(do func(m *fakeManager, verb string) *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = do
}
