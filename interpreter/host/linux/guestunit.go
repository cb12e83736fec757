package linux

import (
	"context"
	"crypto/rand"
	"path"
	"strings"
	"time"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// How long the machine's manager guards a command whose process here died:
// somewhat longer than that process would have waited. And how long what the
// command left in its cgroup gets to end by itself.
const (
	guardTime = 30 * time.Second
	stopTime  = 5 * time.Second
)

// execStart is a command line of a unit, "a(sasas)".
type execStart struct {
	Path  string
	Argv  []string
	Flags []string
}

// runProperties describe the unit that a command is run as. It remains after
// its program has ended, so that it can be asked how. It does not wait for the
// machine to have booted.
func runProperties(program string, c host.Command, s *streams) []systemd.Property {
	list := []systemd.Property{
		systemd.PropDescription("Command of hostler: " + path.Base(program)),
		systemd.PropType("oneshot"),
		systemd.PropRemainAfterExit(true),
		property("DefaultDependencies", false),
		property("ExecStartEx", []execStart{{program, c.Argv, []string{"no-env-expand"}}}),
		property("Environment", environment(c)),
		property("TimeoutStartUSec", uint64((timeout(c) + guardTime).Microseconds())),
		property("TimeoutStopUSec", uint64(stopTime.Microseconds())),
		property("StandardOutputFileDescriptor", dbus.UnixFD(s.theirs[0].Fd())),
		property("StandardErrorFileDescriptor", dbus.UnixFD(s.theirs[1].Fd())),
	}
	if s.stdin != nil {
		list = append(list, property("StandardInputFileDescriptor", dbus.UnixFD(s.stdin.Fd())))
	}
	return list
}

func property(name string, value any) systemd.Property {
	return systemd.Property{Name: name, Value: dbus.MakeVariant(value)}
}

// await waits until the program has ended. The signal of its end may be lost
// with the connection, so it is looked for too.
func (g guestCommands) await(ctx context.Context, name string, ended <-chan string) (host.UnitState, error) {
	tick := time.NewTicker(jobPoll)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return units{manager: g.manager}.Unit(ctx, name)
		case <-ctx.Done():
			return host.UnitState{}, ctx.Err()
		case <-tick.C:
		}
		u, err := units{manager: g.manager}.Unit(ctx, name)
		if err != nil || u.ActiveState != "activating" && u.JobType == "" {
			return u, err
		}
	}
}

// removeTime bounds the removal of a unit, for which the caller's time may be
// up already.
const removeTime = 15 * time.Second

// remove kills what is left of a command and forgets its unit. What it is told
// does not matter: there may be nothing left, and the guard ends what is.
func (g guestCommands) remove(conn *systemd.Conn, name string) {
	ctx, end := context.WithTimeout(context.Background(), removeTime)
	defer end()
	_ = conn.KillUnitWithTarget(ctx, name, systemd.All, int32(unix.SIGKILL))
	stopped := make(chan string, 1)
	if _, err := conn.StopUnitContext(ctx, name, "replace", stopped); err == nil {
		select {
		case <-stopped:
		case <-ctx.Done():
		}
	}
	_ = conn.ResetFailedUnitContext(ctx, name)
}

// randomName is 26 letters and digits that no other command has.
func randomName() string { return strings.ToLower(rand.Text()) }
