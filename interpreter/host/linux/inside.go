package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// inside is a running machine, held by its first process.
type inside struct {
	name   string
	leader int
	// proc is the leader's directory in /proc. Opened, it stays that process's
	// and is empty once it has ended, though another may get its id.
	proc  *os.File
	files *treefs.FS
	outer host.FileView // the host's files
}

// enter opens a running machine.
func (m *machines) enter(name string, leader int) (opened, error) {
	in, err := openInside(name, leader, m.files)
	if err != nil {
		return opened{}, fmt.Errorf("machine %s: entering it: %w", name, err)
	}
	manager := newManager(name, in.dial, in.booted)
	commands := guestCommands{in, manager, m.host.Commands}
	h := host.Host{
		Files:    in.files,
		Units:    units{manager, commands},
		Machines: noMachines{},
		Kernel:   guestKernel{Kernel: m.host.Kernel, in: in},
		Storage:  storage{in.files, in.mounts},
		Network:  in.network(m.host.Network),
		Commands: commands,
		Locks:    m.host.Locks, // an installation has one lock
		Clock:    m.host.Clock, // machines have no clock of their own
		Identity: host.Identity{Live: true, Root: "/", Machine: name, Privileged: m.host.Identity.Privileged},
	}
	return opened{host: h, same: in.alive, close: func() error {
		return errors.Join(manager.close(), in.files.Close(), in.proc.Close())
	}}, nil
}

func openInside(name string, leader int, outer host.FileView) (*inside, error) {
	dir := path.Join("/proc", strconv.Itoa(leader))
	proc, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	files, err := treefs.Open(path.Join(dir, "root"), treefs.Options{})
	if err != nil {
		return nil, errors.Join(err, proc.Close())
	}
	in := &inside{name, leader, proc, files, outer}
	// Its id was not given to another process before the root was opened if it
	// lives now.
	if err := in.enterable(); err != nil {
		return nil, errors.Join(err, files.Close(), proc.Close())
	}
	return in, nil
}

// enterable refuses a machine that has ended, and one that is only called so:
// what is done in it would be done to the host.
func (in *inside) enterable() error {
	theirs, err := in.files.Stat("/")
	if err != nil {
		return err
	}
	ours, err := in.outer.Stat("/")
	if err != nil {
		return err
	}
	switch {
	case !in.alive():
		return in.over()
	case sameInode(host.StatOf(theirs), host.StatOf(ours)):
		return errors.New("its root directory is the host's")
	}
	return nil
}

// over is the error for a machine that has ended meanwhile.
func (in *inside) over() error {
	return fmt.Errorf("machine %s has ended: its first process, %d, is gone", in.name, in.leader)
}

// alive says whether the machine's first process runs.
func (in *inside) alive() bool {
	stat, err := in.read("stat")
	return err == nil && !hasEnded(stat)
}

// read reads a file of the leader's directory in /proc.
func (in *inside) read(name string) (string, error) {
	fd, err := unix.Openat(int(in.proc.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path.Join(in.proc.Name(), name), Err: err}
	}
	f := os.NewFile(uintptr(fd), name)
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}

func (in *inside) mounts() ([]mount, error) {
	text, err := in.read("mountinfo")
	return parseMounts(text), err
}

// booted says whether systemd is the machine's manager and got as far as to
// say so.
func (in *inside) booted() bool {
	info, err := host.Lstat(in.files, "/run/systemd/system")
	return err == nil && info.IsDir()
}

// shares says whether the machine's namespace of that kind is this process's.
func (in *inside) shares(kind string) bool {
	theirs := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(in.proc.Fd()), path.Join("ns", kind), theirs)
	ours, ownErr := os.Readlink(path.Join("/proc/self/ns", kind))
	return err == nil && ownErr == nil && string(theirs[:n]) == ours
}

// network is the host's if the machine shares it.
func (in *inside) network(of host.Network) host.Network {
	if in.shares("net") {
		return of
	}
	enter := func(do func() error) error { return in.within([]string{"net"}, do) }
	return network{proc: in.proc.Name(), enter: enter, transport: transport(in.dialOut)}
}

// dialOut connects from the machine's network to an address that is looked up
// in the host's.
func (in *inside) dialOut(ctx context.Context, network, address string) (conn net.Conn, err error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addresses {
		err := in.within([]string{"net"}, func() error {
			conn, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, net.JoinHostPort(a, port))
			return err
		})
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// noMachines is the machine door inside a machine, where there are none.
type noMachines struct{}

var _ host.Machines = noMachines{}

func (noMachines) Registered(context.Context) ([]host.MachineState, error) {
	return nil, host.ErrNoMachined
}
func (noMachines) View(_ context.Context, name string) (host.View, error) {
	return host.View{}, fmt.Errorf("machine %q in a machine: %w", name, host.ErrNoMachine)
}
func (noMachines) Host(_ context.Context, name string) (host.Host, error) {
	return host.Host{}, fmt.Errorf("machine %q in a machine: %w", name, host.ErrNoMachine)
}
func (noMachines) Terminate(context.Context, string) error { return host.ErrNoMachined }
