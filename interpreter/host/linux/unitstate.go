package linux

import (
	"encoding/hex"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// properties are what D-Bus says about a unit. The getters give the zero value
// for a property that is missing, as with older managers, or of another type.
type properties map[string]any

func (p properties) text(name string) string     { s, _ := p[name].(string); return s }
func (p properties) flag(name string) bool       { b, _ := p[name].(bool); return b }
func (p properties) names(name string) []string  { s, _ := p[name].([]string); return s }
func (p properties) pair(name string) (a, b any) { return twoOf(p[name]) }

func twoOf(v any) (a, b any) {
	if s, ok := v.([]any); ok && len(s) == 2 {
		return s[0], s[1]
	}
	return nil, nil
}

// number reads whatever kind of integer it is.
func (p properties) number(name string) int64 {
	switch n := p[name].(type) {
	case int32:
		return int64(n)
	case uint32:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	}
	return 0
}

// moment is a CLOCK_MONOTONIC timestamp, which D-Bus gives in microseconds.
func (p properties) moment(name string) time.Duration {
	return time.Duration(p.number(name)) * time.Microsecond
}

// job is the id of the queued job, if there is one.
func (p properties) job() (uint32, bool) {
	id, _ := p.pair("Job")
	n, _ := id.(uint32)
	return n, n != 0
}

// invocation is the invocation id in hexadecimal, "" when it is all zero or
// missing.
func (p properties) invocation() string {
	id, _ := p["InvocationID"].([]byte)
	text := hex.EncodeToString(id)
	if strings.Trim(text, "0") == "" {
		return ""
	}
	return text
}

// loadError is the text of what is wrong with the unit file.
func (p properties) loadError() string {
	switch p.text("LoadState") {
	case "error", "bad-setting":
	default:
		return ""
	}
	name, text := p.pair("LoadError")
	if s, ok := text.(string); ok && s != "" {
		return s
	}
	s, _ := name.(string)
	return s
}

func unitState(p properties) host.UnitState {
	return host.UnitState{
		Name:             p.text("Id"),
		LoadState:        p.text("LoadState"),
		LoadError:        p.loadError(),
		ActiveState:      p.text("ActiveState"),
		SubState:         p.text("SubState"),
		UnitFileState:    p.text("UnitFileState"),
		FragmentPath:     p.text("FragmentPath"),
		SourcePath:       p.text("SourcePath"),
		DropInPaths:      p.names("DropInPaths"),
		Type:             p.text("Type"),
		Result:           p.text("Result"),
		ExecMainCode:     int(p.number("ExecMainCode")),
		ExecMainStatus:   int(p.number("ExecMainStatus")),
		RemainAfterExit:  p.flag("RemainAfterExit"),
		ConditionResult:  p.flag("ConditionResult"),
		AssertResult:     p.flag("AssertResult"),
		NeedDaemonReload: p.flag("NeedDaemonReload"),
		NRestarts:        int(p.number("NRestarts")),
		MainPID:          int(p.number("MainPID")),
		InvocationID:     p.invocation(),
		After:            p.names("After"),
		ActiveEnter:      p.moment("ActiveEnterTimestampMonotonic"),
		InactiveExit:     p.moment("InactiveExitTimestampMonotonic"),
		ConditionChecked: p.moment("ConditionTimestampMonotonic"),
	}
}
