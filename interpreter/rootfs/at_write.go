package rootfs

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// writers fill and dress files while the next ones are made. A file has its
// name before: what happens to that meanwhile does not matter to them.
type writers struct {
	jobs  chan writeJob
	free  chan []byte
	ended sync.WaitGroup // the goroutines
	busy  sync.WaitGroup // the files

	mu  sync.Mutex
	err error // the first fault
}

// newFile is a file that was made and is being filled. Whoever is through with
// its last part finishes it.
type newFile struct {
	fd    int
	name  string
	mode  uint32 // what it has now
	size  int64
	attrs attrs
	hole  atomic.Bool
	left  atomic.Int32 // parts that are not written, and one for who reads them
}

// writeJob is a part of a file's content.
type writeJob struct {
	file   *newFile
	offset int64
	buf    []byte
	n      int
}

// writing is how many parts are written at the same time, queued how many may
// wait, and partSize how large they are at most, in bytes.
const (
	writing  = 2
	queued   = 24
	partSize = 128 << 10
)

// lateError is the fault of an entry that was handed to the writers.
type lateError struct {
	name string
	err  error
}

func (e *lateError) Error() string { return fmt.Sprintf("entry %q: make: %v", shorten(e.name), e.err) }

func (e *lateError) Unwrap() error { return e.err }

func (t *atTree) startWriters() {
	w := &t.writers
	w.jobs, w.free = make(chan writeJob, queued), make(chan []byte, queued)
	for range queued {
		w.free <- nil // made when first needed
	}
	for range writing {
		w.ended.Go(func() {
			for j := range w.jobs {
				t.write(j)
			}
		})
	}
}

func (w *writers) fail(name string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.err == nil {
		w.err = &lateError{name, err}
	}
}

// fault is the first one so far.
func (w *writers) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// flush waits until all files are finished.
func (w *writers) flush() error {
	w.busy.Wait()
	return w.fault()
}

func (w *writers) close() error {
	err := w.flush()
	close(w.jobs)
	w.ended.Wait()
	return err
}

func (t *atTree) write(j writeJob) {
	hole := false
	if err := writePiece(j.file.fd, j.offset, j.buf[:j.n], &hole); err != nil {
		t.writers.fail(j.file.name, err)
	}
	if hole {
		j.file.hole.Store(true)
	}
	t.writers.free <- j.buf
	t.through(j.file)
}

// through finishes the file once nothing is left of it.
func (t *atTree) through(f *newFile) {
	if f.left.Add(-1) > 0 {
		return
	}
	t.writers.fail(f.name, t.finishFile(f))
	t.writers.busy.Done()
}

// finishFile dresses and closes a file.
func (t *atTree) finishFile(f *newFile) (err error) {
	if f.hole.Load() {
		err = unix.Ftruncate(f.fd, f.size)
	}
	if err == nil {
		e := atEntry{tree: t, fd: f.fd, mode: f.mode}
		err = e.dress(f.attrs)
	}
	return errors.Join(err, unix.Close(f.fd))
}

// handOver reads the content of a file that was made and leaves the rest to
// the writers, who also close it.
func (t *atTree) handOver(e *atEntry, name string, o object) error {
	w := &t.writers
	if err := w.fault(); err != nil {
		return errors.Join(err, unix.Close(e.fd))
	}
	f := &newFile{fd: e.fd, name: name, mode: e.mode, size: o.size, attrs: o.attrs}
	f.left.Store(1)
	w.busy.Add(1)
	defer t.through(f)
	for done := int64(0); done < o.size; {
		buf := <-w.free
		if buf == nil {
			buf = make([]byte, partSize)
		}
		n, err := io.ReadFull(o.content, buf[:min(partSize, o.size-done)])
		if err != nil {
			w.free <- buf
			return cutShort(done+int64(n), o.size, err)
		}
		f.left.Add(1)
		w.jobs <- writeJob{f, done, buf, n}
		done += int64(n)
	}
	return nil
}

// cutShort makes an error of content that ended early.
func cutShort(done, size int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the archive ends after %d of %d bytes: %w", done, size, io.ErrUnexpectedEOF)
	}
	return err
}
