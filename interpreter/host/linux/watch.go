package linux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"
)

// Watched is what [Watch] reports changes of.
type Watched struct {
	Places
	Machines []WatchedMachine
}

// WatchedMachine is a running machine, by its first process.
type WatchedMachine struct {
	Name   string
	Leader int
	Places
}

// Places are what is watched on the host, or inside of a machine.
type Places struct {
	// Paths are absolute and clean. What stands at one is watched, there or
	// not, and not what is below it.
	Paths []string
	// Units are full names.
	Units []string
}

// Watch reports changes of paths (by inotify) and of whether units run (by
// signals of the service manager), until ctx ends or watching has come to an
// end, when the channel is closed. A path or "unit NAME" is sent for each
// change, with "machine NAME: " before what is inside of one; a reader that is
// slow misses some, never all. A machine that cannot be entered or asked is left
// out, and so are the units of one with users of its own. No process runs and no
// timer ticks while nothing happens.
func Watch(ctx context.Context, what Watched) (<-chan string, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{ctx: ctx, cancel: cancel, changes: make(chan string, 64)}
	err := errors.Join(w.paths(hostPlace{}, what.Paths), w.units(what.Units))
	for _, m := range what.Machines {
		if err == nil {
			err = w.machine(m)
		}
	}
	if err != nil {
		cancel()
	}
	go func() {
		w.group.Wait()
		cancel()
		close(w.changes)
	}()
	return w.changes, err
}

// watch is what goes on until its context ends.
type watch struct {
	ctx     context.Context
	cancel  context.CancelFunc
	group   sync.WaitGroup
	changes chan string
}

// report sends a change, unless nobody reads the many before it.
func report(changes chan<- string, what string) {
	select {
	case changes <- what:
	default:
	}
}

// place is where paths are looked up.
type place interface {
	// real is a directory by a path of this process.
	real(dir string) (string, error)
	// label is how a path or unit is called in reports.
	label(name string) string
}

type hostPlace struct{}

func (hostPlace) real(dir string) (string, error) { return dir, nil }
func (hostPlace) label(name string) string        { return name }

// changing are the events that may change what a step looks at: never reads.
const changing = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// inotify watches directories for entries of theirs.
type inotify struct {
	file *os.File
	// dirs are the directories by watch descriptor, entries what of them is
	// watched: an entry's name to the path that it is on the way to.
	dirs    map[int32]string
	entries map[int32]map[string]string
}

func (w *watch) paths(at place, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	n := &inotify{file: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}, entries: map[int32]map[string]string{}}
	for _, name := range paths {
		if err := n.add(fd, at, name); err != nil {
			return errors.Join(err, n.file.Close())
		}
	}
	stop := context.AfterFunc(w.ctx, func() { _ = n.file.Close() })
	w.group.Go(func() {
		defer w.cancel()
		defer stop()
		n.read(w.ctx, w.changes)
	})
	return nil
}

// add watches the directory that holds a path, or the nearest one above it that
// is there.
func (n *inotify) add(fd int, at place, name string) error {
	for entry := name; entry != "/"; entry = path.Dir(entry) {
		dir, wd := path.Dir(entry), 0
		real, err := at.real(dir)
		if err == nil {
			wd, err = unix.InotifyAddWatch(fd, real, changing|unix.IN_ONLYDIR)
		}
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("watch %s: %w", at.label(dir), err)
		}
		n.note(int32(wd), at.label(dir), path.Base(entry), at.label(name))
		return nil
	}
	return nil
}

func (n *inotify) note(wd int32, dir, entry, name string) {
	n.dirs[wd] = dir
	if n.entries[wd] == nil {
		n.entries[wd] = map[string]string{}
	}
	n.entries[wd][entry] = name
}

func (n *inotify) read(ctx context.Context, changes chan<- string) {
	buf := make([]byte, 16<<10)
	for ctx.Err() == nil {
		size, err := n.file.Read(buf)
		if err != nil {
			return
		}
		if !n.events(buf[:size], changes) {
			return
		}
	}
}

// events reports what is read of inotify; false: a watched directory is gone or
// events were lost, so that all has to be watched anew.
func (n *inotify) events(buf []byte, changes chan<- string) bool {
	for len(buf) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[4:])
		size := int(binary.NativeEndian.Uint32(buf[12:]))
		entry, _, _ := bytes.Cut(buf[unix.SizeofInotifyEvent:][:size], []byte{0})
		buf = buf[unix.SizeofInotifyEvent+size:]
		dir := n.dirs[wd]
		switch {
		case mask&unix.IN_Q_OVERFLOW != 0:
			report(changes, "more than could be followed")
			return false
		case mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
			report(changes, dir)
			return false
		}
		if name, ours := n.entries[wd][string(entry)]; ours {
			report(changes, name)
		}
	}
	return true
}
