package host

import (
	"context"
	"net/http"
)

// KernelView asks the running kernel. On a host that is not live every method
// returns an *UnknownError.
type KernelView interface {
	// Release is uname -r.
	Release(ctx context.Context) (string, error)
	// CgroupVersion is 2 for the unified hierarchy, 1 for legacy or hybrid.
	CgroupVersion(ctx context.Context) (int, error)
	// ModuleAvailable says whether the module is loaded, built in or can be
	// loaded for the running kernel.
	ModuleAvailable(ctx context.Context, name string) (bool, error)
	// ModuleLoaded says whether the module is loaded or built in.
	ModuleLoaded(ctx context.Context, name string) (bool, error)
	// Sysctl returns the value in force, without the final newline; key is
	// dotted or slashed as sysctl(8) takes it. A key that does not exist is
	// fs.ErrNotExist.
	Sysctl(ctx context.Context, key string) (string, error)
	// Swaps lists the active swap areas.
	Swaps(ctx context.Context) ([]SwapArea, error)
}

// SwapArea is an active swap area.
type SwapArea struct {
	Name string // of its device or file
	// Priority is that of swapon(2); areas with a negative one got it from the
	// kernel, in the order in which they came.
	Priority int
}

// SwapNames are the names of swap areas, in their order.
func SwapNames(areas []SwapArea) []string {
	names := make([]string, len(areas))
	for i, a := range areas {
		names[i] = a.Name
	}
	return names
}

// Kernel changes the running kernel.
type Kernel interface {
	KernelView
	// SetSysctl sets a value now.
	SetSysctl(ctx context.Context, key, value string) error
	// LoadModule loads a module now.
	LoadModule(ctx context.Context, name string) error
	// SwapOff stops swapping on one area.
	SwapOff(ctx context.Context, area string) error
	// SwapOn starts swapping on one area. The kernel chooses a priority in place
	// of a negative one.
	SwapOn(ctx context.Context, area SwapArea) error
	// Unmount unmounts what is mounted at path, inside the host.
	Unmount(ctx context.Context, path string) error
}

// StorageView asks about mounted file systems.
type StorageView interface {
	// Mount describes the mount that holds path, whose nearest existing
	// ancestor is taken if it does not exist.
	Mount(ctx context.Context, path string) (MountState, error)
	// Mounts lists all mount points. On a host that is not live it returns an
	// *UnknownError.
	Mounts(ctx context.Context) ([]MountState, error)
}

// MountState describes one mount.
type MountState struct {
	Point     string // where it is mounted
	Source    string
	Type      string
	ReadOnly  bool
	NoExec    bool
	FreeBytes uint64 // available to an unprivileged user; 0 in Mounts
}

// NetworkView asks the network. On a host that is not live every method
// returns an *UnknownError.
type NetworkView interface {
	// Listeners lists listening TCP sockets.
	Listeners(ctx context.Context) ([]ListenerState, error)
	// Links lists network links.
	Links(ctx context.Context) ([]LinkState, error)
	// Rules lists policy rules of both families.
	Rules(ctx context.Context) ([]RuleState, error)
	// RouteTables lists the tables above 0 that hold at least one route, per
	// family.
	RouteTables(ctx context.Context) ([]TableState, error)
	// Transport carries HTTP requests from this host.
	Transport() http.RoundTripper
}

// Network looks at and changes the network.
type Network interface {
	NetworkView
	NetworkEdit
}

// NetworkEdit changes links, rules and routes; what is already gone is not an
// error.
type NetworkEdit interface {
	DeleteLink(ctx context.Context, name string) error
	DeleteRule(ctx context.Context, rule RuleState) error
	FlushTable(ctx context.Context, table TableState) error
}

// ListenerState is a listening TCP socket and who holds it.
type ListenerState struct {
	Address string // "0.0.0.0:10250", "[::]:10250"
	// PID is 0 when the process that holds the socket cannot be found.
	PID int
	// Root and Exe are what /proc/PID/root and /proc/PID/exe point to, as
	// paths on the host, "" when they cannot be read.
	Root, Exe string
}

// LinkState is a network link.
type LinkState struct {
	Name string
	Kind string // "dummy", "wireguard", "veth", …; "" for physical ones
	Up   bool
}

// Family is an address family.
type Family string

// The address families.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// RuleState is a policy rule.
type RuleState struct {
	Family   Family
	Priority int
	Table    int
}

// TableState is a routing table.
type TableState struct {
	Family Family
	Table  int
}
