// Package offline is the host behind a root directory whose system is not
// running: an image that is being built, a mounted disk, the tree of a machine
// at rest.
//
// Files are real. Whatever only a running system could tell is refused,
// host.ErrNoManager for its service manager and an *host.UnknownError for its
// kernel, network and commands, so that facts of the machine the program runs
// on are never taken for the host's. A process that is not root works too, as
// far as a tree can be managed without: see treefs.Options.
package offline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hostler/interpreter/host"
	"hostler/interpreter/host/treefs"
)

// Open opens the directory root as a host. It must exist and must not be the
// root of the machine the program runs on. The caller ends with [Close].
func Open(root string) (host.Host, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return host.Host{}, err
	}
	if err := usable(abs); err != nil {
		return host.Host{}, err
	}
	files, err := treefs.Open(abs, treefs.Options{Unprivileged: os.Geteuid() != 0})
	if err != nil {
		return host.Host{}, err
	}
	return over(files, abs, ""), nil
}

// usable says why abs cannot be an offline root.
func usable(abs string) error {
	info, err := os.Stat(abs)
	if err != nil {
		return fmt.Errorf("offline root: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("offline root %s is not a directory; unpack or mount the image and name the directory", abs)
	}
	top, err := os.Stat("/")
	if err != nil {
		return fmt.Errorf("offline root: %w", err)
	}
	if os.SameFile(info, top) {
		return errors.New("offline root / is the running host itself; leave the root out to work on it")
	}
	return nil
}

// over puts the doors of a host that is not running around files. Of the host
// itself machine is "".
func over(files *treefs.FS, root, machine string) host.Host {
	h := host.Host{
		Files:    files,
		Units:    Units{},
		Kernel:   Kernel{},
		Storage:  storage{files},
		Network:  Network{},
		Commands: Commands{},
		Locks:    locks{files, root},
		Clock:    Clock{},
		Identity: host.Identity{Root: root, Machine: machine, Privileged: os.Geteuid() == 0},
	}
	h.Machines = &machines{files: files}
	return h
}

// Close closes what [Open] and the machines of h hold open. h and the hosts of
// its machines are of no use afterwards. For a host of another kind it does
// nothing.
func Close(h host.Host) error {
	files, ok := h.Files.(*treefs.FS)
	if !ok {
		return nil
	}
	var err error
	if m, ok := h.Machines.(*machines); ok {
		err = m.close()
	}
	return errors.Join(err, files.Close())
}
