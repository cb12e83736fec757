package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// dial connects to the manager of the machine, by the message bus whose socket
// lies in its root. A machine whose users are not the host's would take root
// for nobody there: in it systemd's own bridge is run, and talked to.
func (in *inside) dial(ctx context.Context) (*dbus.Conn, error) {
	switch {
	case !in.alive():
		return nil, in.over()
	case in.shares("user"):
		return in.dialBus(ctx)
	}
	return in.dialBridge(ctx)
}

// dialBus finds the socket as a path is resolved inside, so that a link in the
// machine cannot lead to a socket of the host, and connects to what it found.
func (in *inside) dialBus(ctx context.Context) (*dbus.Conn, error) {
	socket, err := in.openPath(systemBus)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("bus of machine %s: %w (it is not up yet, or dbus is missing in the image)", in.name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("bus of machine %s: %w", in.name, err)
	}
	defer unix.Close(socket)
	return dialSocket(ctx, fmt.Sprintf("/proc/self/fd/%d", socket), bySystemBus)
}

// openPath opens a name inside, without access to what is there.
func (in *inside) openPath(name string) (int, error) {
	root, err := unix.Openat(int(in.proc.Fd()), "root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, name, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// dialBridge runs systemd-stdio-bridge inside.
func (in *inside) dialBridge(ctx context.Context) (*dbus.Conn, error) {
	bridge, err := host.LookTool(in.files, "systemd-stdio-bridge")
	if err != nil {
		return nil, fmt.Errorf("bus of machine %s: %w", in.name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	pipe, err := in.startPipe(ctx, in.nsenter(bridge))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("bus of machine %s: %w", in.name, err)
	}
	conn, err := dbus.NewConn(pipe, dbus.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, errors.Join(err, pipe.Close())
	}
	return conn, wrap("bus of machine "+in.name, introduce(conn, cancel, bySystemBus))
}

// nsenter is the command line that runs a program in all namespaces of the
// machine.
func (in *inside) nsenter(argv ...string) []string {
	return append([]string{"nsenter", "--target", strconv.Itoa(in.leader), "--all", "--root", "--wd", "--"}, argv...)
}

// pipe is a running program that is talked to by its input and output.
type pipe struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
}

func (in *inside) startPipe(ctx context.Context, argv []string) (*pipe, error) {
	program, err := host.LookTool(in.outer, argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = environment(host.Command{})
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &pipe{output, input, cmd}, cmd.Start()
}

// Close ends the program. How it ended tells nothing.
func (p *pipe) Close() error {
	err := p.WriteCloser.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	return err
}
