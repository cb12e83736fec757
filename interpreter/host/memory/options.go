package memory

import (
	"net/http"
	"time"

	"hostler/interpreter/host"
)

// Options say how the host is when the test begins. The zero value is a
// running host with systemd, machined and an almost empty file system.
type Options struct {
	// OSRelease is the text of os-release; "" is that of a Debian 12.
	OSRelease string
	Hostname  string // "" is "host"
	Systemd   int    // version; 0 is 252
	Arch      string // in Go's names; "" is that of the program
	// Offline makes it a root directory at rest: no manager, no kernel.
	Offline bool
	// NoSystemdContainer leaves out machined, systemd-nspawn and its unit.
	NoSystemdContainer bool

	// Executables are made with mode 0755, in /usr/bin unless absolute. The
	// host always has true, false, sleep and sh. Without a package manager among
	// them it counts as image-managed.
	Executables []string
	Files       map[string]File // parents are made
	ReadOnly    []string        // directories on read-only mounts
	BindFiles   []string        // files that are mount points by themselves
	Mounts      []Mount
	DiskBytes   int64 // size of the root file system; 0 is no limit

	Units    []Unit
	Machines []Machine
	// Scripts decide what the processes of a unit do, by "name.service", or
	// "kube1/name.service" for a unit inside a machine.
	Scripts map[string]Script
	// Programs are what executables do when they run, by base name. One that
	// is not here exits with 0 at once ("false" with 1).
	Programs map[string]Program

	Kernel  Kernel
	Network Network
	// Start is the wall-clock time; zero is 2026-01-01.
	Start time.Time
}

// File is a file, link or directory that is there from the start.
type File struct {
	Content  string
	Mode     uint32 // 0 is 0644, for directories 0755
	UID, GID int
	Link     string // target, makes it a link
	Dir      bool
	Xattrs   map[string]string
}

// Mount is a mounted file system.
type Mount struct {
	Point    string
	Type     string // "" is "tmpfs", the one that a power loss takes
	Source   string // "" is the type
	Size     int64  // in bytes; 0 is no limit
	ReadOnly bool
	NoExec   bool
}

// Unit is a unit file in /usr/lib/systemd/system and its state.
type Unit struct {
	Name string
	// Content is the unit file; "" is a service that keeps running and can
	// be enabled.
	Content string
	Enabled bool // wanted by multi-user.target
	Running bool
}

// Machine is a machine's tree below /var/lib/machines.
type Machine struct {
	Name    string
	Running bool
	Enabled bool // started at boot
	// OSRelease is as in Options; without one nspawn refuses the tree: "none"
	// leaves it out.
	OSRelease string
	Files     map[string]File
	Units     []Unit
}

// Kernel is the kernel at boot.
type Kernel struct {
	Release string // "" is "6.1.0"
	Cgroup  int    // 0 is 2
	// Sysctl holds values by dotted key; keys that are not here do not exist,
	// save kernel.hostname.
	Sysctl map[string]string
	// Modules says which modules there are: true is loaded.
	Modules map[string]bool
	Swaps   []string
}

// Network is the network at boot.
type Network struct {
	Listeners []host.ListenerState
	Links     []host.LinkState
	Rules     []host.RuleState
	Tables    []host.TableState
	// Addresses are those of links, by name; Routes and PolicyRules stand
	// beside Tables and Rules, with all that is to know of them.
	Addresses   map[string][]string
	Routes      []host.Route
	PolicyRules []host.PolicyRule
	// HTTP answers requests by "host" or "host:port". Other hosts do not
	// resolve.
	HTTP map[string]http.Handler
}

// Script decides what a unit's main process does; n counts the starts of the
// unit since boot, from 1.
type Script func(n int) Outcome

// Outcome is what a unit's main process does. The zero value runs until it is
// stopped.
type Outcome struct {
	// Ends is true when the process ends by itself, After its start, with
	// Status or by Signal.
	Ends   bool
	After  time.Duration
	Status int
	Signal int
	// Silent keeps a Type=notify service from saying that it is ready.
	Silent bool
	// Log is what it writes.
	Log []string
}

// Program is what an executable does.
type Program func(Invocation) host.CommandResult

// Invocation is one run of a program.
type Invocation struct {
	host.Command
	// Host is where it runs: the host or the inside of a machine.
	Host host.Host
}
