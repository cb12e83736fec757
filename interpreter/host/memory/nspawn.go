package memory

import (
	"path"
	"strings"
	"time"

	"hostler/interpreter/host"
)

const (
	// machineBoot is how long a machine's own manager takes to answer.
	machineBoot = 200 * time.Millisecond
	// terminateTime passes between a termination and its effect.
	terminateTime = 100 * time.Millisecond
)

// machine is a registration with machined and what runs behind it.
type machine struct {
	name   string
	unit   *unit
	leader int
	alive  bool
	state  string
	inner  *manager // nil until the machine answers
}

// nspawnMachine is the machine that a unit's main process is, "" if none.
func (s *manager) nspawnMachine(u *unit) string {
	for _, line := range u.def.text.all("Service", "ExecStart") {
		argv, _ := command(line)
		if len(argv) == 0 || path.Base(argv[0]) != "systemd-nspawn" {
			continue
		}
		for i, arg := range argv {
			if name, ok := strings.CutPrefix(arg, "--machine="); ok {
				return name
			}
			if arg == "-M" && i+1 < len(argv) {
				return argv[i+1]
			}
		}
	}
	return ""
}

// nspawn is what systemd-nspawn does: refuse, or register the machine and let
// it boot.
func (m *Memory) nspawn(u *unit, name string) Outcome {
	refuse := func(why string) Outcome { return Outcome{Ends: true, Status: 1, Log: []string{why}} }
	root := host.MachineRoot(name)
	tree := &files{t: m.tree, base: root, effect: func() {}}
	switch {
	case !host.ValidMachineName(name):
		return refuse("Invalid machine name: " + name)
	case m.opts.NoSystemdContainer:
		return refuse("Failed to register machine: the machine manager is not there")
	case !isDirectory(m.admin, root):
		return refuse("No image for machine '" + name + "'.")
	case !exists(tree, "/etc/os-release") && !exists(tree, "/usr/lib/os-release"):
		return refuse("Directory " + root + " doesn't look like an OS root directory (os-release file is missing). Refusing.")
	case m.machines[name] != nil:
		return refuse("Failed to register machine: Machine '" + name + "' already exists")
	}
	m.pids++
	mc := &machine{name: name, unit: u, leader: m.pids, alive: true, state: "running"}
	m.machines[name] = mc
	m.after(machineBoot, func() {
		if m.machines[name] == mc && mc.alive {
			mc.inner = newManager(m, name, root)
			mc.inner.boot()
		}
	})
	return Outcome{}
}

func exists(f *files, name string) bool {
	_, err := f.Stat(name)
	return err == nil
}

func isDirectory(f *files, name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.IsDir()
}

// machineEnded takes a machine's registration back when its unit ends.
func (s *manager) machineEnded(u *unit) {
	for name, mc := range s.m.machines {
		if mc.unit == u && mc.alive {
			mc.gone()
			delete(s.m.machines, name)
		}
	}
}

// gone takes down what ran inside.
func (mc *machine) gone() {
	if mc.inner != nil {
		mc.inner.dead = true
	}
	mc.alive, mc.inner = false, nil
}

// KillMachine kills a running machine from outside. With stale its
// registration stays, as after a restart of machined. Killing what does not
// run does nothing.
func (m *Memory) KillMachine(name string, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mc := m.machines[name]
	if mc == nil || !mc.alive {
		return
	}
	if stale {
		mc.gone()
	}
	mc.unit.s.exited(mc.unit, mc.unit.run, Outcome{Ends: true, Signal: 9})
	mc.unit.s.dispatch()
}

// innerManager is the manager of the host ("") or of a machine, nil if none
// answers.
func (m *Memory) innerManager(name string) *manager {
	if name == "" {
		return m.system
	}
	if mc := m.machines[name]; mc != nil {
		return mc.inner
	}
	return nil
}

// inside is the host, or a machine as a host, as it is now.
func (m *Memory) inside(name string) host.Host {
	if name == "" {
		return m.Host()
	}
	h := m.doors(name, host.MachineRoot(name))
	mc := m.machines[name]
	h.Identity.Live = mc != nil && mc.alive
	return h
}
