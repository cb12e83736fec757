package shadow_test

import (
	"context"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// still is a base that does not move: what each door answers is a field.
type still struct {
	files     host.FileView
	units     map[string]host.UnitState
	noManager bool
	machines  []host.MachineState
	guests    map[string]*still
	mounts    []host.MountState
	sysctls   map[string]string
	modules   map[string]bool // true: loaded
	swaps     []string
	links     []host.LinkState
	rules     []host.RuleState
	tables    []host.TableState
	transport http.RoundTripper
	name      string
}

func (s *still) view() host.View {
	return host.View{
		Files: s.files, Units: stillUnits{s}, Machines: stillMachines{s}, Kernel: stillKernel{s},
		Storage: stillStorage{s}, Network: stillNetwork{s}, Clock: stillClock{},
		Identity: host.Identity{Live: !s.noManager, Root: "/", Machine: s.name, Privileged: true},
	}
}

var bootTime = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type stillClock struct{}

func (stillClock) Now() time.Time                             { return bootTime }
func (stillClock) Monotonic() time.Duration                   { return time.Hour }
func (stillClock) Sleep(context.Context, time.Duration) error { panic("the base's clock was slept on") }

type stillUnits struct{ *still }

func (s stillUnits) Manager(context.Context) (host.ManagerState, error) {
	if s.noManager {
		return host.ManagerState{}, host.ErrNoManager
	}
	return host.ManagerState{Version: 252, State: "running"}, nil
}

func (s stillUnits) Unit(_ context.Context, name string) (host.UnitState, error) {
	if s.noManager {
		return host.UnitState{}, host.ErrNoManager
	}
	if u, ok := s.units[name]; ok {
		return u, nil
	}
	return host.UnitState{Name: name, LoadState: "not-found", ActiveState: "inactive", SubState: "dead"}, nil
}

func (s stillUnits) Log(_ context.Context, name string, _ int) ([]string, error) {
	if s.noManager {
		return nil, host.ErrNoManager
	}
	return []string{"log of " + name}, nil
}

type stillMachines struct{ *still }

func (s stillMachines) Registered(context.Context) ([]host.MachineState, error) {
	if s.noManager {
		return nil, host.ErrNoManager
	}
	return s.machines, nil
}

func (s stillMachines) View(_ context.Context, name string) (host.View, error) {
	if g := s.guests[name]; g != nil {
		return g.view(), nil
	}
	if _, err := host.Lstat(s.files, host.MachineRoot(name)); err != nil {
		return host.View{}, host.ErrNoMachine
	}
	rest := &still{noManager: true, name: name, files: s.files}
	return rest.view(), nil
}

type stillKernel struct{ *still }

func ask[T any](s *still, v T) (T, error) {
	if s.noManager {
		var none T
		return none, host.Unknownf("the host is not running")
	}
	return v, nil
}

func (s stillKernel) Release(context.Context) (string, error)    { return ask(s.still, "6.1.0") }
func (s stillKernel) CgroupVersion(context.Context) (int, error) { return ask(s.still, 2) }
func (s stillKernel) ModuleAvailable(_ context.Context, name string) (bool, error) {
	_, ok := s.modules[name]
	return ask(s.still, ok)
}
func (s stillKernel) ModuleLoaded(_ context.Context, name string) (bool, error) {
	return ask(s.still, s.modules[name])
}
func (s stillKernel) Swaps(context.Context) (areas []host.SwapArea, err error) {
	for _, name := range s.swaps {
		areas = append(areas, host.SwapArea{Name: name})
	}
	return ask(s.still, areas)
}
func (s stillKernel) Sysctl(_ context.Context, key string) (string, error) {
	v, ok := s.sysctls[key]
	if !ok && !s.noManager {
		return "", &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	return ask(s.still, v)
}

type stillStorage struct{ *still }

func (s stillStorage) Mount(_ context.Context, name string) (host.MountState, error) {
	best := host.MountState{Point: "/", Type: "ext4"}
	for _, m := range s.mounts {
		if (name == m.Point || strings.HasPrefix(name, m.Point+"/")) && len(m.Point) >= len(best.Point) {
			best = m
		}
	}
	return best, nil
}
func (s stillStorage) Mounts(context.Context) ([]host.MountState, error) {
	return ask(s.still, append([]host.MountState{{Point: "/", Type: "ext4"}}, s.mounts...))
}

type stillNetwork struct{ *still }

func (s stillNetwork) Listeners(context.Context) ([]host.ListenerState, error) {
	return ask(s.still, []host.ListenerState{{Address: "0.0.0.0:22", PID: 1}})
}
func (s stillNetwork) Links(context.Context) ([]host.LinkState, error) { return ask(s.still, s.links) }
func (s stillNetwork) Rules(context.Context) ([]host.RuleState, error) { return ask(s.still, s.rules) }
func (s stillNetwork) RouteTables(context.Context) ([]host.TableState, error) {
	return ask(s.still, s.tables)
}
func (s stillNetwork) Transport() http.RoundTripper { return s.transport }
