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
	// Paths are absolute and clean. What stands at one is watched, there or
	// not, and not what is below it.
	Paths []string
	// Units are full names.
	Units []string
}

// Watch reports changes of paths (by inotify) and of whether units run (by
// signals of the service manager), until ctx ends or watching has come to an
// end, when the channel is closed. A path or "unit NAME" is sent for each change;
// a reader that is slow misses some, never all. No process runs and no timer
// ticks while nothing happens.
func Watch(ctx context.Context, what Watched) (<-chan string, error) {
	ctx, cancel := context.WithCancel(ctx)
	changes := make(chan string, 64)
	var group sync.WaitGroup
	err := errors.Join(
		watchPaths(ctx, cancel, &group, what.Paths, changes),
		watchUnits(ctx, cancel, &group, what.Units, changes))
	if err != nil {
		cancel()
	}
	go func() {
		group.Wait()
		cancel()
		close(changes)
	}()
	return changes, err
}

// report sends a change, unless nobody reads the many before it.
func report(changes chan<- string, what string) {
	select {
	case changes <- what:
	default:
	}
}

// changing are the events that may change what a step looks at: never reads.
const changing = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// inotify watches directories for entries of theirs.
type inotify struct {
	file *os.File
	// dirs are the directories by watch descriptor, entries what of them is
	// watched: an entry's name to the path that it is on the way to.
	dirs    map[int32]string
	entries map[string]map[string]string
}

func watchPaths(ctx context.Context, cancel func(), group *sync.WaitGroup, paths []string, changes chan<- string) error {
	if len(paths) == 0 {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	n := &inotify{file: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}, entries: map[string]map[string]string{}}
	for _, name := range paths {
		if err := n.add(fd, name); err != nil {
			return errors.Join(err, n.file.Close())
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = n.file.Close() })
	group.Go(func() {
		defer cancel()
		defer stop()
		n.read(ctx, changes)
	})
	return nil
}

// add watches the directory that holds a path, or the nearest one above it that
// is there.
func (n *inotify) add(fd int, name string) error {
	for entry := name; entry != "/"; entry = path.Dir(entry) {
		dir := path.Dir(entry)
		wd, err := unix.InotifyAddWatch(fd, dir, changing|unix.IN_ONLYDIR)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("watch %s: %w", dir, err)
		}
		n.dirs[int32(wd)] = dir
		if n.entries[dir] == nil {
			n.entries[dir] = map[string]string{}
		}
		n.entries[dir][path.Base(entry)] = name
		return nil
	}
	return nil
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
		if name, ours := n.entries[dir][string(entry)]; ours {
			report(changes, name)
		}
	}
	return true
}
