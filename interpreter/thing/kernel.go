package thing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// Sysctl is the value in force of a kernel parameter, by its dotted name as
// [SysctlName] gives it.
type Sysctl string

// Key is "sysctl:" and the parameter's dotted name.
func (s Sysctl) Key() Key { return Key("sysctl:" + string(s)) }

// SysctlName is the one dotted spelling of a parameter's name. As sysctl(8)
// reads it, the first separator says which of "." and "/" is used; the other
// is then part of a name: "net/ipv4/conf/eth0.1/forwarding" is
// "net.ipv4.conf.eth0/1.forwarding".
func SysctlName(name string) string {
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		return strings.NewReplacer("/", ".", ".", "/").Replace(name)
	}
	return name
}

// SysctlValue is a value as values are compared: the kernel parts numbers by
// tabs.
func SysctlValue(s string) string { return strings.Join(strings.Fields(s), " ") }

// Look reads the value. A parameter that does not exist may come with a module
// and is unknown.
func (s Sysctl) Look(ctx context.Context, v host.View) (State, error) {
	value, err := v.Kernel.Sysctl(ctx, string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, host.Unknownf("there is no kernel parameter %s now", string(s))
	}
	if err != nil {
		return State{}, err
	}
	return State{Kind: Present, Value: SysctlValue(value)}, nil
}

// PutBack sets the value that was in force before us. On a host that does not
// run, and for a parameter that is not there any more, there is nothing to do.
func (s Sysctl) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	if o.Kind != OriginSaved || o.State == nil || !h.Identity.Live {
		return nil
	}
	now, err := s.Look(ctx, h.View())
	switch {
	case errors.Is(err, host.ErrUnknown):
		return nil
	case err != nil:
		return fmt.Errorf("kernel parameter %s: %w", string(s), err)
	case now.Value == o.State.Value:
		return nil
	}
	if err := h.Kernel.SetSysctl(ctx, string(s), o.State.Value); err != nil {
		return fmt.Errorf("kernel parameter %s: its former value %q: %w", string(s), o.State.Value, err)
	}
	return nil
}

// Module is a loaded kernel module, by its name with underscores.
type Module string

// Key is "module:" and the name.
func (m Module) Key() Key { return Key("module:" + string(m)) }

// ModuleName is the kernel's spelling of a module's name: with underscores.
func ModuleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Look says whether the module is loaded or built in.
func (m Module) Look(ctx context.Context, v host.View) (State, error) {
	loaded, err := v.Kernel.ModuleLoaded(ctx, string(m))
	if err != nil {
		return State{}, err
	}
	if !loaded {
		return State{Kind: Absent}, nil
	}
	return State{Kind: Present}, nil
}

// PutBack leaves a loaded module where it is: others may use it by now, and it
// goes with the next boot.
func (m Module) PutBack(context.Context, host.Host, Origin, Keeper) error { return nil }

// Swap is all active swap areas of a host.
type Swap struct{}

// Key is "swap:active".
func (Swap) Key() Key { return "swap:active" }

// Look lists the areas in Value, one a line, each with its priority after a tab.
func (Swap) Look(ctx context.Context, v host.View) (State, error) {
	areas, err := v.Kernel.Swaps(ctx)
	if err != nil || len(areas) == 0 {
		return State{Kind: Absent}, err
	}
	lines := make([]string, len(areas))
	for i, a := range areas {
		lines[i] = a.Name + "\t" + strconv.Itoa(a.Priority)
	}
	slices.Sort(lines)
	return State{Kind: Present, Value: strings.Join(lines, "\n")}, nil
}

// PutBack starts swapping again on the areas that were active before us, by
// their units where those bring the area, as for zram.
func (s Swap) PutBack(ctx context.Context, h host.Host, o Origin, _ Keeper) error {
	if o.Kind != OriginSaved || o.State == nil || !h.Identity.Live {
		return nil
	}
	active, err := h.Kernel.Swaps(ctx)
	if err != nil {
		return fmt.Errorf("swap:active: %w", err)
	}
	for _, area := range recordedAreas(o.State.Value) {
		if slices.Contains(host.SwapNames(active), area.Name) {
			continue
		}
		if err := swapOn(ctx, h, area); err != nil {
			return fmt.Errorf("swap:active: %s: %w", area.Name, err)
		}
	}
	return nil
}

// recordedAreas reads a Value of Look, highest priority first: areas to which
// the kernel gives a priority keep their order. A line without a priority is
// of a record that had none.
func recordedAreas(value string) (areas []host.SwapArea) {
	for line := range strings.SplitSeq(value, "\n") {
		name, text, _ := strings.Cut(line, "\t")
		priority, err := strconv.Atoi(text)
		if err != nil {
			priority = -1
		}
		if name != "" {
			areas = append(areas, host.SwapArea{Name: name, Priority: priority})
		}
	}
	slices.SortStableFunc(areas, func(a, b host.SwapArea) int { return b.Priority - a.Priority })
	return areas
}

func swapOn(ctx context.Context, h host.Host, area host.SwapArea) error {
	if unit := SwapUnit(area.Name); unit != "" && strings.HasPrefix(area.Name, "/dev/zram") {
		if _, err := Start(ctx, h, unit); err == nil || ctx.Err() != nil || !errors.Is(err, host.ErrNoUnit) && !errors.Is(err, host.ErrNoManager) {
			return err
		}
	}
	return h.Kernel.SwapOn(ctx, area)
}
