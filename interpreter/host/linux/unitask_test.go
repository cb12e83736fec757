package linux

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsAskedOfAUnit: a service is asked for what tells its state, and for
// all in one answer when it does not tell or changes meanwhile; the state is the
// same.
func TestWhatIsAskedOfAUnit(t *testing.T) {
	const since = "StateChangeTimestampMonotonic"
	service := properties{
		"Id": "a.service", "LoadState": "loaded", "ActiveState": "active", "SubState": "running", since: uint64(5),
		"Type": "notify", "Result": "success", "ExecMainCode": int32(1), "ExecMainStatus": int32(2), "RemainAfterExit": true, "NRestarts": uint32(3), "MainPID": uint32(42),
	}
	with := func(p properties) properties {
		all := maps.Clone(service)
		maps.Copy(all, p)
		return all
	}
	without := func(name string) properties {
		all := maps.Clone(service)
		delete(all, name)
		return all
	}
	for name, c := range map[string]struct {
		unit      properties
		restarted bool // while it is asked
		all, one  int  // questions for all of an interface, and for one property
	}{
		"a service":              {unit: service, all: 1, one: 8},
		"one that is restarted":  {unit: service, restarted: true, all: 2, one: 8},
		"an older manager's":     {unit: without("NRestarts"), all: 2, one: 7},
		"a mask":                 {unit: properties{"Id": "a.service", "LoadState": "masked", "ActiveState": "inactive"}, all: 1},
		"nothing":                {unit: properties{}, all: 1},
		"a mask under a service": {unit: with(properties{"LoadState": "masked"}), all: 1, one: 8},
		"a socket":               {unit: properties{"Id": "a.socket", "LoadState": "loaded", "ActiveState": "active"}, all: 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, u := newFakeManager(t)
			m.set("a_2eservice", c.unit)
			want := maps.Clone(c.unit)
			if c.restarted {
				want["MainPID"], want[since] = uint32(43), uint64(6)
				m.onGet = func(property string) {
					if property == "NRestarts" {
						m.units["a_2eservice"] = want
					}
				}
			}
			got, err := u.Unit(t.Context(), "a.service")
			ok(t, err)
			if c.unit["Id"] == nil {
				want = properties{"Id": "a_2eservice", "LoadState": "not-found", "ActiveState": "inactive"}
			}
			if want := unitState(want); got.MainPID != want.MainPID || got.NRestarts != want.NRestarts || got.Type != want.Type || got.LoadState != want.LoadState ||
				got.ExecMainStatus != want.ExecMainStatus || got.RemainAfterExit != want.RemainAfterExit || got.Result != want.Result {
				t.Errorf("state %+v\nwant  %+v", got, want)
			}
			count := func(method string) (n int) {
				for _, call := range m.calls {
					if call == method {
						n++
					}
				}
				return n
			}
			if count("GetAll") != c.all || count("Get") != c.one || slices.ContainsFunc(m.calls, func(s string) bool { return strings.HasPrefix(s, "List") }) {
				t.Errorf("asked %q, want GetAll %d times and Get %d times", m.calls, c.all, c.one)
			}
		})
	}
}
