package thing

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/unitfile"
)

const (
	zramSetup = "systemd-zram-setup@"
	// byAlias starts the names of units that only are other names of one.
	byAlias = `dev-disk-by\x2d`
)

// SwapUnit is the unit that stands for a swap area, "" for a name that is none.
func SwapUnit(area string) string {
	escaped, err := unitfile.EscapePath(area)
	if err != nil || escaped == "-" {
		return ""
	}
	return escaped + ".swap"
}

// SwapUnits are the units that could swap on an area again: its own, and the
// one that sets a zram device up. Units that are only other names of one are
// not among them.
func SwapUnits(area string) []string {
	unit := SwapUnit(area)
	if unit == "" || strings.HasPrefix(unit, byAlias) {
		return nil
	}
	if dev, ok := strings.CutPrefix(area, "/dev/zram"); ok {
		return []string{unit, zramSetup + "zram" + dev + ".service"}
	}
	return []string{unit}
}

// FoundSwapUnits are the units of swap areas that have a file on the host,
// written or generated, and those that set their zram devices up, sorted.
func FoundSwapUnits(f host.FileView) ([]string, error) {
	var units []string
	for _, dir := range unitfile.SearchPath(f) {
		names, err := namesIn(f, dir)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if !strings.HasSuffix(n, ".swap") || strings.HasPrefix(n, byAlias) {
				continue
			}
			units = append(units, n)
			if number, ok := strings.CutPrefix(strings.TrimSuffix(n, ".swap"), "dev-zram"); ok {
				units = append(units, zramSetup+"zram"+number+".service")
			}
		}
	}
	slices.Sort(units)
	return slices.Compact(units), nil
}

// SwapMasks is the masks of all units of swap areas, which are not known
// before a host is looked at.
type SwapMasks struct{}

// Key is "unit-enabled:*.swap".
func (SwapMasks) Key() Key { return "unit-enabled:*.swap" }

// Look finds the masks, as [UnitEnabled] does for one unit.
func (m SwapMasks) Look(_ context.Context, v host.View) (State, error) {
	masks, err := m.masks(v.Files)
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", m.Key(), err)
	}
	return LinksState(nil, masks), nil
}

func (SwapMasks) masks(f host.FileView) (unitfile.Links, error) {
	names, err := namesIn(f, unitfile.EtcDir)
	masks := unitfile.Links{}
	for _, n := range names {
		file := path.Join(unitfile.EtcDir, n)
		if !isSwapUnit(n) && !stagedMask(file) {
			continue
		}
		s, err := LookPath(f, file)
		if err != nil {
			return nil, err
		}
		if s.Kind == Link && s.Target == unitfile.MaskTarget {
			masks[file] = s.Target
		}
	}
	return masks, err
}

func isSwapUnit(name string) bool {
	return strings.HasSuffix(name, ".swap") || strings.HasPrefix(name, zramSetup) && strings.HasSuffix(name, ".service")
}

// stagedMask says whether a file is a mask that a killed run did not put in
// place: it has to go too.
func stagedMask(file string) bool {
	name, isTemporary := strings.CutPrefix(path.Base(file), ".")
	at := strings.LastIndex(name, ".")
	return isTemporary && at > 0 && isSwapUnit(name[:at]) && host.TemporaryName(path.Join(unitfile.EtcDir, name[:at])) == file
}

// PutBack takes the masks away that were not there before us.
func (m SwapMasks) PutBack(_ context.Context, h host.Host, o Origin, _ Keeper) error {
	if o.Kind == OriginAdopted || o.Kind == "" {
		return nil
	}
	masks, err := m.masks(h.Files)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Key(), err)
	}
	saved := map[string]string{}
	if o.State != nil {
		saved = o.State.Links
	}
	var ops []unitfile.LinkOp
	for file := range masks {
		if _, was := saved[file]; !was {
			ops = append(ops, unitfile.LinkOp{Path: file})
		}
	}
	slices.SortFunc(ops, func(a, b unitfile.LinkOp) int { return strings.Compare(a.Path, b.Path) })
	if err := unitfile.Carry(h.Files, ops); err != nil {
		return fmt.Errorf("%s: %w", m.Key(), err)
	}
	return nil
}
