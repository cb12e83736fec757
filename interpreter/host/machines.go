package host

import "context"

// MachineView looks at systemd-nspawn machines and their trees below
// /var/lib/machines.
type MachineView interface {
	// Registered lists the machines that systemd-machined knows, the host
	// itself left out. Where machined is missing it returns ErrNoMachined,
	// and ErrNoManager on an offline host; a failing inventory is an error,
	// never an empty list.
	Registered(ctx context.Context) ([]MachineState, error)
	// View is the inside of the machine name. If it is not registered the
	// view is that of its tree at rest (no running manager). Without a tree
	// it returns ErrNoMachine.
	View(ctx context.Context, name string) (View, error)
}

// Machines manages systemd-nspawn machines. They are started and stopped by
// their units, through the unit door.
type Machines interface {
	MachineView
	// Host is the inside of the machine name, as View.
	Host(ctx context.Context, name string) (Host, error)
	// Terminate removes a registration and kills what is left of the machine.
	// It does not wait until the machine is gone. A machine that is not
	// registered is not an error.
	Terminate(ctx context.Context, name string) error
}

// MachineState describes a registered machine.
type MachineState struct {
	Name    string
	Class   string // "container", "vm"
	Service string // "systemd-nspawn"
	Unit    string // "systemd-nspawn@kube1.service"
	Root    string // its root directory on the host
	Leader  int    // process id of its first process on the host
	State   string // "opening", "running", "closing"
	// Alive is false for a stale registration, whose leader is gone.
	Alive bool
}

// MachinesDir is where machined keeps machine trees.
const MachinesDir = "/var/lib/machines"

// MachineRoot is the directory of the machine's tree on the host.
func MachineRoot(name string) string { return MachinesDir + "/" + name }
