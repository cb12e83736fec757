package offline

import (
	"context"
	"net/http"

	"hostler/interpreter/host"
)

// notRunning is the answer to a question that only a running host can answer.
func notRunning(what string) error {
	return host.Unknownf("%s of a host that is not running", what)
}

// Units is the unit door of a host without a running service manager: every
// method returns host.ErrNoManager.
type Units struct{}

var _ host.Units = Units{}

// Manager returns host.ErrNoManager.
func (Units) Manager(context.Context) (host.ManagerState, error) {
	return host.ManagerState{}, host.ErrNoManager
}

// Unit returns host.ErrNoManager.
func (Units) Unit(context.Context, string) (host.UnitState, error) {
	return host.UnitState{}, host.ErrNoManager
}

// Log returns host.ErrNoManager.
func (Units) Log(context.Context, string, int) ([]string, error) { return nil, host.ErrNoManager }

// Reload returns host.ErrNoManager.
func (Units) Reload(context.Context) error { return host.ErrNoManager }

// Run returns host.ErrNoManager.
func (Units) Run(context.Context, host.JobVerb, string) error { return host.ErrNoManager }

// Queue returns host.ErrNoManager.
func (Units) Queue(context.Context, host.JobVerb, string) error { return host.ErrNoManager }

// ResetFailed returns host.ErrNoManager.
func (Units) ResetFailed(context.Context, string) error { return host.ErrNoManager }

// Kernel is the kernel door of a host that is not running: every method
// returns an *host.UnknownError.
type Kernel struct{}

var _ host.Kernel = Kernel{}

// Release is unknown.
func (Kernel) Release(context.Context) (string, error) { return "", notRunning("the kernel release") }

// CgroupVersion is unknown.
func (Kernel) CgroupVersion(context.Context) (int, error) { return 0, notRunning("the cgroup version") }

// ModuleAvailable is unknown.
func (Kernel) ModuleAvailable(context.Context, string) (bool, error) {
	return false, notRunning("the kernel modules")
}

// ModuleLoaded is unknown.
func (Kernel) ModuleLoaded(context.Context, string) (bool, error) {
	return false, notRunning("the kernel modules")
}

// Sysctl is unknown.
func (Kernel) Sysctl(context.Context, string) (string, error) {
	return "", notRunning("the kernel parameters")
}

// Swaps is unknown.
func (Kernel) Swaps(context.Context) ([]host.SwapArea, error) {
	return nil, notRunning("the swap areas")
}

// SetSysctl cannot be done.
func (Kernel) SetSysctl(context.Context, string, string) error {
	return notRunning("the kernel parameters")
}

// LoadModule cannot be done.
func (Kernel) LoadModule(context.Context, string) error { return notRunning("the kernel modules") }

// SwapOff cannot be done.
func (Kernel) SwapOff(context.Context, string) error { return notRunning("the swap areas") }

// SwapOn cannot be done.
func (Kernel) SwapOn(context.Context, host.SwapArea) error { return notRunning("the swap areas") }

// Unmount cannot be done.
func (Kernel) Unmount(context.Context, string) error { return notRunning("the mounts") }

// Network is the network door of a host that is not running: every method
// returns an *host.UnknownError.
type Network struct{}

var _ host.Network = Network{}

// Listeners is unknown.
func (Network) Listeners(context.Context) ([]host.ListenerState, error) {
	return nil, notRunning("the listening sockets")
}

// Links is unknown.
func (Network) Links(context.Context) ([]host.LinkState, error) {
	return nil, notRunning("the network links")
}

// Rules is unknown.
func (Network) Rules(context.Context) ([]host.RuleState, error) {
	return nil, notRunning("the policy rules")
}

// RouteTables is unknown.
func (Network) RouteTables(context.Context) ([]host.TableState, error) {
	return nil, notRunning("the routing tables")
}

// Transport carries nothing.
func (Network) Transport() http.RoundTripper { return noTransport{} }

// DeleteLink cannot be done.
func (Network) DeleteLink(context.Context, string) error { return notRunning("the network links") }

// DeleteRule cannot be done.
func (Network) DeleteRule(context.Context, host.RuleState) error {
	return notRunning("the policy rules")
}

// FlushTable cannot be done.
func (Network) FlushTable(context.Context, host.TableState) error {
	return notRunning("the routing tables")
}

type noTransport struct{}

// RoundTrip fails and, as its contract asks, closes the body.
func (noTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, notRunning("the network")
}

// Commands is the command door of a host that is not running: nothing is run,
// because a program of the host might be for another architecture and would
// see the kernel of this machine.
type Commands struct{}

var _ host.Commands = Commands{}

// Run returns an *host.UnknownError.
func (Commands) Run(context.Context, host.Command) (host.CommandResult, error) {
	return host.CommandResult{ExitCode: -1}, host.Unknownf("commands are not run on an offline host")
}
