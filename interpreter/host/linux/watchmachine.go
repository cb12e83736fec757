package linux

import (
	"context"
	"errors"
	"io/fs"

	"hostler/interpreter/host/treefs"
)

// machinePlace is where paths inside of a machine are looked up: links are
// resolved as in the machine and lead nowhere else.
type machinePlace struct{ *inside }

func (m machinePlace) real(dir string) (string, error) { return m.files.RealDir(dir) }
func (m machinePlace) label(name string) string        { return "machine " + m.name + ": " + name }

// machine watches what is inside of a machine. One that has ended, or whose bus
// cannot be reached, is no fault: its own unit is watched on the host.
func (w *watch) machine(m WatchedMachine) error {
	outer, err := treefs.Open("/", treefs.Options{})
	if err != nil {
		return err
	}
	in, err := openInside(m.Name, m.Leader, outer)
	if err != nil {
		return outer.Close()
	}
	context.AfterFunc(w.ctx, func() { _ = errors.Join(in.files.Close(), in.proc.Close(), outer.Close()) })
	at := machinePlace{in}
	if err := w.paths(at, m.Paths); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(m.Units) == 0 || !in.booted() || !in.shares("user") {
		return nil
	}
	conn, err := in.dial(w.ctx)
	if err != nil {
		return nil
	}
	return w.signals(conn, true, at, m.Units)
}
