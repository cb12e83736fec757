package memory

import (
	"fmt"
	"maps"
	"time"

	"hostler/interpreter/host"
)

// manager is a service manager: the host's or a machine's. All its methods
// want the lock of Memory held; it is let go only while a test's script or
// program runs.
type manager struct {
	m       *Memory
	machine string // "" on the host
	r       unitReader
	units   map[string]*unit
	aliases map[string]string
	jobs    []*job
	booted  bool
	dead    bool // with its machine
}

func newManager(m *Memory, machine, base string) *manager {
	return &manager{m: m, machine: machine, units: map[string]*unit{}, aliases: map[string]string{},
		r: unitReader{&files{t: m.tree, base: base, effect: func() {}}}}
}

// later lets something happen in d, if the manager still lives then.
func (s *manager) later(d time.Duration, do func()) {
	s.m.after(d, func() {
		if !s.dead {
			do()
		}
	})
}

// key is how tests name a unit.
func (s *manager) key(name string) string {
	if s.machine == "" {
		return name
	}
	return s.machine + "/" + name
}

// get returns a unit, reading its files if it was never loaded.
func (s *manager) get(name string) (*unit, error) {
	if !validUnit(name) {
		return nil, fmt.Errorf("unit name %q is not valid", name)
	}
	if own, ok := s.aliases[name]; ok {
		name = own
	}
	u := s.units[name]
	if u != nil && (u.def.loadState != "not-found" || u.active != "inactive") {
		return u, nil
	}
	def := s.r.load(name)
	if def.name != name {
		s.aliases[name] = def.name
		return s.get(def.name)
	}
	if u == nil {
		u = &unit{s: s, active: "inactive", sub: "dead", result: "success"}
		s.units[name] = u
	}
	u.def = def
	s.refer(u)
	return u, nil
}

// refer loads what a unit refers to, as the manager does when it loads one.
func (s *manager) refer(u *unit) {
	for _, name := range u.def.references() {
		if validUnit(name) && !hasAt(name) {
			_, _ = s.get(name)
		}
	}
}

// collect forgets units that are inactive and to which no unit that counts
// refers: what is asked about them later is read from their files anew.
func (s *manager) collect() {
	kept := map[string]bool{}
	var todo []*unit
	for _, name := range sortedKeys(s.units) {
		if u := s.units[name]; u.active != "inactive" || s.jobOf(u) != nil {
			kept[name] = true
			todo = append(todo, u)
		}
	}
	for ; len(todo) > 0; todo = todo[1:] {
		for _, name := range todo[0].def.references() {
			if own, ok := s.aliases[name]; ok {
				name = own
			}
			if u := s.units[name]; u != nil && !kept[name] {
				kept[name] = true
				todo = append(todo, u)
			}
		}
	}
	maps.DeleteFunc(s.units, func(name string, _ *unit) bool { return !kept[name] })
	maps.DeleteFunc(s.aliases, func(_, own string) bool { return !kept[own] })
}

// reload reads all unit files again and forgets units that are not used.
func (s *manager) reload() {
	clear(s.aliases)
	for _, name := range sortedKeys(s.units) {
		u := s.units[name]
		def := s.r.load(name)
		idle := u.active == "inactive" && s.jobOf(u) == nil
		switch {
		case idle && (def.name != name || def.loadState == "not-found"):
			delete(s.units, name)
		case def.name != name:
			delete(s.units, name)
			u.def = s.r.load(def.name)
			s.units[def.name] = u
			s.aliases[name] = def.name
		default:
			u.def = def
		}
	}
	for _, name := range sortedKeys(s.units) {
		s.refer(s.units[name])
	}
}

// state is the system state.
func (s *manager) state() string {
	if !s.booted {
		return "starting"
	}
	for _, u := range s.units {
		if u.active == "failed" {
			return "degraded"
		}
	}
	return "running"
}

// boot starts what is enabled, without waiting for it.
func (s *manager) boot() {
	u, err := s.get("default.target")
	if err != nil || u.def.loadState != "loaded" {
		u, err = s.get("multi-user.target")
	}
	if err != nil {
		return
	}
	j, err := s.enqueue(host.JobStart, u)
	if err != nil {
		s.booted = true
		return
	}
	j.then = func() { s.booted = true }
	s.dispatch()
}

// describe is a unit as D-Bus shows it.
func (s *manager) describe(u *unit) host.UnitState {
	d := u.def
	state := host.UnitState{
		Name: d.name, LoadState: d.loadState, LoadError: d.loadError,
		ActiveState: u.active, SubState: u.sub, UnitFileState: s.r.fileState(d.name),
		FragmentPath: d.fragment, DropInPaths: d.dropIns, SourcePath: d.text.one("Unit", "SourcePath"), Type: d.kind(),
		ExecMainCode: u.code, ExecMainStatus: u.status, MainPID: u.pid,
		RemainAfterExit: d.text.yes("Service", "RemainAfterExit"),
		ConditionResult: u.condition, AssertResult: u.assert,
		NeedDaemonReload: d.stale(s.r), NRestarts: u.restarts, InvocationID: u.invocation,
		After: d.after, ActiveEnter: u.activeEnter, InactiveExit: u.inactiveExit, ConditionChecked: u.checked,
	}
	if d.kind() != "" {
		state.Result = u.result
	}
	if j := s.jobOf(u); j != nil {
		state.JobType = string(j.verb)
	}
	return state
}
