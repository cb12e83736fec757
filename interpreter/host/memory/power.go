package memory

import (
	"fmt"
	"time"

	"hostler/interpreter/host"
)

// bootPatience bounds how long a boot is followed before New or Reboot return.
const bootPatience = 10 * time.Minute

// Crash lets the program die and the host go on: files keep everything, units
// keep running, open handles are dead and locks are free.
func (m *Memory) Crash() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.locks = map[string]*lockState{}
	m.tree.mu.Lock()
	defer m.tree.mu.Unlock()
	m.tree.lives++
	for _, mnt := range m.tree.mounts {
		mnt.opens = 0
	}
}

// PowerLoss takes the power away and boots again. choose says which of the
// states that a journaled file system may be in is found: for each disk, how
// many of the steps not synced were written, in order; then for each file with
// data not synced, whether that is lost (0), cut or whole. nil is
// [LoseMost]. What is on a tmpfs, /run too, is gone.
func (m *Memory) PowerLoss(choose func(n int) int) {
	if choose == nil {
		choose = LoseMost
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tree.losePower(choose)
	m.boot()
}

// Reboot stops everything, syncs and boots.
func (m *Memory) Reboot() {
	m.tree.syncAll()
	m.PowerLoss(nil)
}

// boot begins a new life of the host: nothing runs but what is enabled.
func (m *Memory) boot() {
	first := m.system == nil
	m.locks = map[string]*lockState{}
	if m.opts.Offline {
		return
	}
	m.timers = nil
	for _, mc := range m.machines {
		mc.gone()
	}
	if m.system != nil {
		m.system.dead = true
	}
	m.machines = map[string]*machine{}
	m.clock.boot()
	m.bootKernel(first)
	m.bootNetwork()
	m.system = newManager(m, "", "/")
	m.system.boot()
	m.settle()
}

// settle lets time pass while jobs are queued.
func (m *Memory) settle() {
	end := m.clock.since() + bootPatience
	for m.busy() && m.next(end) {
	}
}

func (m *Memory) busy() bool {
	if len(m.system.jobs) > 0 {
		return true
	}
	for _, mc := range m.machines {
		if mc.alive && (mc.inner == nil || len(mc.inner.jobs) > 0) {
			return true
		}
	}
	return false
}

// startSeeded starts what the options say is running but not enabled.
func (m *Memory) startSeeded() {
	m.startUnits(m.system, m.opts.Units)
	for _, machine := range m.opts.Machines {
		if !machine.Running {
			continue
		}
		m.startUnits(m.system, []Unit{{Name: nspawnInstance(machine.Name), Running: true}})
		inner := m.innerManager(machine.Name)
		if inner == nil {
			panic(fmt.Sprintf("memory host: options want machine %s to run: %v", machine.Name, m.system.units[nspawnInstance(machine.Name)].log))
		}
		m.startUnits(inner, machine.Units)
	}
}

func (m *Memory) startUnits(s *manager, units []Unit) {
	for _, u := range units {
		if !u.Running {
			continue
		}
		if _, err := s.queue(host.JobStart, u.Name); err != nil {
			panic(fmt.Sprintf("memory host: options want %s to run: %v", s.key(u.Name), err))
		}
		s.dispatch()
		m.settle()
	}
}
