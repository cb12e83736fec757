// Package linux is the host the program runs on: the real doors.
//
// Files are the tree at "/" (see treefs). Units are managed over D-Bus, on
// systemd's private socket as root and on the system bus otherwise; machines
// are those of systemd-machined. Kernel, storage and network are read from
// /proc, /sys and netlink, never from the output of tools.
//
// A running machine is a host of its own: its files are the root of its first
// process, its units those of the systemd inside, reached through the bus
// socket in that root, and its commands run inside as transient units. A
// machine at rest is its tree, as package offline sees one.
//
// It is the only package, with treefs and offline, that may change the machine
// by itself. It needs no cgo and no running D-Bus daemon for the units of the
// host.
package linux

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/host/treefs"
)

// Open opens the running host. ctx bounds the opening only. The caller ends
// with close, after which the host and the hosts of its machines are of no
// use.
//
// Nothing is asked of the machine yet: a host whose service manager or machined
// cannot be reached opens, and the doors say so when they are used. Programs
// that are run through it inherit no open files from this process, so Open
// marks those it was started with as close-on-exec.
func Open(ctx context.Context) (h host.Host, close func() error, err error) {
	if err := ctx.Err(); err != nil {
		return host.Host{}, nil, err
	}
	if err := keepFiles(); err != nil {
		return host.Host{}, nil, err
	}
	files, err := treefs.Open("/", treefs.Options{})
	if err != nil {
		return host.Host{}, nil, err
	}
	h, end := doors(files)
	return h, func() error { return errors.Join(end(), files.Close()) }, nil
}

// doors puts the doors of the running host around its files.
func doors(files *treefs.FS) (host.Host, func() error) {
	commands := commands{files}
	manager := newManager("", dialHost, booted)
	lock := locks{lockDir}
	h := host.Host{
		Files:    files,
		Units:    units{manager, commands},
		Kernel:   kernel{files: files, commands: commands},
		Storage:  storage{files, selfMounts},
		Network:  network{proc: "/proc/self", transport: transport(nil)},
		Commands: commands,
		Locks:    lock,
		Clock:    offline.Clock{},
		Identity: host.Identity{Live: true, Root: "/", Privileged: os.Geteuid() == 0},
	}
	m := &machines{files: files, bus: &bus{path: systemBus}, host: h, manager: manager}
	h.Machines = m
	return h, func() error { return errors.Join(m.close(), manager.close()) }
}

// keepFiles marks the files that this process was started with as
// close-on-exec. Those it opens itself are so already.
func keepFiles() error {
	err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		return nil // before Linux 5.11, or filtered: the files are passed on
	}
	return err
}
