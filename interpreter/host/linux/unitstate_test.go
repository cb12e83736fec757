package linux

import (
	"reflect"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"hostler/interpreter/host"
)

// told is what a manager says about a unit, in the types it uses.
func told() properties {
	id := []byte{0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	return properties{
		"Id": "a.service", "LoadState": "bad-setting", "LoadError": []any{"org.freedesktop.systemd1.BadUnitSetting", "Unit a.service has a bad unit file setting."},
		"ActiveState": "failed", "SubState": "dead", "UnitFileState": "enabled", "FragmentPath": "/etc/systemd/system/a.service",
		"SourcePath": "/etc/source", "DropInPaths": []string{"/etc/systemd/system/a.service.d/10-x.conf"},
		"Type": "oneshot", "Result": "exit-code", "ExecMainCode": int32(1), "ExecMainStatus": int32(203), "RemainAfterExit": true,
		"ConditionResult": true, "AssertResult": true, "NeedDaemonReload": true, "NRestarts": uint32(4), "MainPID": uint32(99),
		"InvocationID": id, "After": []string{"b.service"}, "Job": []any{uint32(7), dbus.ObjectPath("/org/freedesktop/systemd1/job/7")},
		"ActiveEnterTimestampMonotonic": uint64(1_000_001), "InactiveExitTimestampMonotonic": uint64(1_000_000), "ConditionTimestampMonotonic": uint64(999_999),
	}
}

func TestUnitState(t *testing.T) {
	want := host.UnitState{
		Name: "a.service", LoadState: "bad-setting", LoadError: "Unit a.service has a bad unit file setting.",
		ActiveState: "failed", SubState: "dead", UnitFileState: "enabled", FragmentPath: "/etc/systemd/system/a.service",
		SourcePath: "/etc/source", DropInPaths: []string{"/etc/systemd/system/a.service.d/10-x.conf"},
		Type: "oneshot", Result: "exit-code", ExecMainCode: 1, ExecMainStatus: 203, RemainAfterExit: true,
		ConditionResult: true, AssertResult: true, NeedDaemonReload: true, NRestarts: 4, MainPID: 99,
		InvocationID: "deadbeef000102030405060708090a0b", After: []string{"b.service"},
		ActiveEnter: 1_000_001 * time.Microsecond, InactiveExit: time.Second, ConditionChecked: 999_999 * time.Microsecond,
	}
	if got := unitState(told()); !reflect.DeepEqual(got, want) {
		t.Errorf("the unit is\n%+v, want\n%+v", got, want)
	}
	if id, queued := told().job(); id != 7 || !queued {
		t.Errorf("its job is %d, %v", id, queued)
	}
}

// TestUnitStateOfOtherTypes: what a manager says in other types, or not at all,
// is the zero value, never a panic.
func TestUnitStateOfOtherTypes(t *testing.T) {
	for _, odd := range []any{nil, "text", 1, 1.5, true, []byte{1}, []any{}, []any{1, 2, 3}, []any{"a", 2}, []string{}, map[string]string{}, struct{}{}, int64(-1), dbus.MakeVariant(1)} {
		p := properties{}
		for name := range told() {
			p[name] = odd
		}
		_ = unitState(p)
		if _, queued := p.job(); queued {
			t.Errorf("%T is taken for a job", odd)
		}
	}
	if got := unitState(properties{}); !reflect.DeepEqual(got, host.UnitState{}) {
		t.Errorf("nothing said gives %+v", got)
	}
}

func TestUnitStateDetails(t *testing.T) {
	p := told()
	p["InvocationID"] = make([]byte, 16)
	p["LoadState"] = "loaded"
	if u := unitState(p); u.InvocationID != "" || u.LoadError != "" {
		t.Errorf("a unit that never ran is %+v", u)
	}
	p["LoadState"], p["LoadError"] = "error", []any{"org.freedesktop.systemd1.LoadFailed", ""}
	if u := unitState(p); u.LoadError != "org.freedesktop.systemd1.LoadFailed" {
		t.Errorf("the load error is %q", u.LoadError)
	}
}

func TestDeduce(t *testing.T) {
	const since = 10 * time.Second
	after, before := since+1, since-1
	for _, c := range []struct {
		what  string
		verb  host.JobVerb
		unit  host.UnitState
		began bool
		want  host.JobResult
	}{
		{"running", host.JobStart, host.UnitState{ActiveState: "active"}, false, "done"},
		{"failed", host.JobStart, host.UnitState{ActiveState: "failed"}, false, "failed"},
		{"ran", host.JobStart, host.UnitState{ActiveState: "inactive", InactiveExit: after, ConditionChecked: after, ConditionResult: true, AssertResult: true}, false, "done"},
		{"condition", host.JobStart, host.UnitState{ActiveState: "inactive", ConditionChecked: after}, false, "done"},
		{"assert", host.JobStart, host.UnitState{ActiveState: "inactive", ConditionChecked: after, ConditionResult: true}, false, "assert"},
		{"never ran", host.JobStart, host.UnitState{ActiveState: "inactive", InactiveExit: before, ConditionChecked: before}, false, "canceled"},
		{"forgotten", host.JobStart, host.UnitState{ActiveState: "inactive"}, false, "canceled"},
		{"forgotten once it had begun", host.JobStart, host.UnitState{ActiveState: "inactive"}, true, "done"},
		{"stopped", host.JobStop, host.UnitState{ActiveState: "inactive"}, false, "done"},
		{"stopped, failed", host.JobStop, host.UnitState{ActiveState: "failed"}, false, "done"},
		{"not stopped", host.JobStop, host.UnitState{ActiveState: "active"}, false, "canceled"},
		{"reloaded", host.JobReload, host.UnitState{ActiveState: "active"}, false, "done"},
		{"nothing to restart", host.JobTryRestart, host.UnitState{ActiveState: "inactive"}, false, "done"},
		{"restarted", host.JobRestart, host.UnitState{ActiveState: "activating"}, false, "done"},
	} {
		if got := deduce(c.verb, c.unit, since, c.began); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
