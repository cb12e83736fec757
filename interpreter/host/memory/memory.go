// Package memory is a whole host in memory, honest where a recipe could be
// fooled: a file system with the kernel's errors that knows what a power loss
// takes, and a small systemd that reads unit files only when the real one
// does, whose "done" does not mean "running", and whose machines are hosts
// with a manager of their own. Time is a clock that moves when somebody waits.
//
// The doors are those of package host. The methods of [Memory] are what a test
// does to the machine behind the program's back: a crash, a power loss, a
// reboot, a service that fails, an inventory that cannot be had.
package memory

import (
	"maps"
	"sync"
	"time"

	"hostler/interpreter/host"
)

// Memory is a host in memory. It is safe for use by several goroutines.
type Memory struct {
	opts  Options
	tree  *tree
	clock *clock
	admin *files // changes that are not counted

	mu       sync.Mutex // everything below, and the managers
	timers   []timer
	system   *manager // nil while no manager runs
	machines map[string]*machine
	kernel   kernelState
	network  Network
	locks    map[string]*lockState
	refused  map[Call]error
	jobFault map[jobKey]host.JobResult
	pids     int
	calls    int // invocations of units, ever

	countMu sync.Mutex
	effects map[string]int
}

// New makes a host, boots it unless it is offline, and makes all of it
// durable. It panics when the options contradict themselves.
func New(opts Options) *Memory {
	opts = withDefaults(opts)
	c := &clock{wall: opts.Start, mono: bootTime}
	m := &Memory{opts: opts, clock: c, tree: newTree(c.now, opts.DiskBytes), effects: map[string]int{},
		locks: map[string]*lockState{}, refused: map[Call]error{}, jobFault: map[jobKey]host.JobResult{},
		machines: map[string]*machine{}, pids: 100}
	m.admin = &files{t: m.tree, base: "/", effect: func() {}}
	m.seed()
	m.tree.syncAll()
	if !opts.Offline {
		m.mu.Lock()
		m.boot()
		m.startSeeded()
		m.mu.Unlock()
	}
	m.tree.syncAll()
	m.ResetEffects()
	return m
}

func withDefaults(o Options) Options {
	if o.OSRelease == "" {
		o.OSRelease = "ID=debian\nVERSION_ID=\"12\"\nNAME=\"Debian GNU/Linux\"\n"
	}
	if o.Hostname == "" {
		o.Hostname = "host"
	}
	if o.Systemd == 0 {
		o.Systemd = 252
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Kernel.Release == "" {
		o.Kernel.Release = "6.1.0"
	}
	if o.Kernel.Cgroup == 0 {
		o.Kernel.Cgroup = 2
	}
	o.Scripts = maps.Clone(o.Scripts)
	if o.Scripts == nil {
		o.Scripts = map[string]Script{}
	}
	return o
}

// Host returns the doors. All hosts that it returns are the same machine.
func (m *Memory) Host() host.Host {
	h := m.doors("", "/")
	h.Identity.Live = !m.opts.Offline
	return h
}

// doors are the doors of the host or, with a name, of a machine.
func (m *Memory) doors(machine, base string) host.Host {
	f := &files{t: m.tree, base: base, effect: func() { m.count("files") }}
	return host.Host{
		Files:    f,
		Units:    unitDoor{m, machine},
		Machines: machineDoor{m, machine},
		Kernel:   kernelDoor{m, machine},
		Storage:  storageDoor{m, machine, base},
		Network:  networkDoor{m, machine},
		Commands: commandDoor{m, machine, f},
		Locks:    lockDoor{m, machine},
		Clock:    clockDoor{m},
		Identity: host.Identity{Root: "/", Machine: machine, Arch: m.opts.Arch, Privileged: true},
	}
}

func (m *Memory) count(door string) {
	m.countMu.Lock()
	defer m.countMu.Unlock()
	m.effects[door]++
}

// Effects counts the calls that change something, by door ("files", "units",
// "machines", "kernel", "network", "commands", "locks"), since New or
// ResetEffects. A call that failed counts.
func (m *Memory) Effects() map[string]int {
	m.countMu.Lock()
	defer m.countMu.Unlock()
	return maps.Clone(m.effects)
}

// ResetEffects sets all counts to zero.
func (m *Memory) ResetEffects() {
	m.countMu.Lock()
	defer m.countMu.Unlock()
	clear(m.effects)
}

// Call names a kind of call that can be refused.
type Call string

// The calls that [Memory.Refuse] takes.
const (
	CallManager     Call = "manager"      // asking for the manager's state
	CallUnit        Call = "unit"         // asking for a unit
	CallReload      Call = "reload"       // daemon-reload
	CallResetFailed Call = "reset-failed" // clearing a failed state
	CallRegistered  Call = "registered"   // the inventory of machines
	CallTerminate   Call = "terminate"    // terminating a machine
)

// Refuse makes every call of a kind fail with err, on the host and inside
// machines, until it is called with nil.
func (m *Memory) Refuse(call Call, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[call] = err
}

// FailJob lets the jobs of one kind of a unit end with result, without
// touching the unit, until it is called with "". The unit is named as in
// [Options.Scripts].
func (m *Memory) FailJob(verb host.JobVerb, unit string, result host.JobResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobFault[jobKey{verb, unit}] = result
}

type jobKey struct {
	verb host.JobVerb
	unit string
}

// SetScript replaces the script of a unit; nil goes back to its ExecStart.
func (m *Memory) SetScript(unit string, s Script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opts.Scripts[unit] = s
}
