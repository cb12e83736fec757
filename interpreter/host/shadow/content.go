package shadow

import (
	"errors"
	"io"
)

// pageSize is the unit in which written parts of a file are held.
const pageSize = 4096

// content is the bytes of a regular file: pages that were written, over what
// still shows of a file of the base, over zeros. Nothing is read from the base
// before it is asked for.
type content struct {
	size int64
	// source is the file of the base, "" if there is none; kept, how much of
	// its beginning still shows.
	source string
	kept   int64
	pages  map[int64][]byte
	// pristine is set while nothing was changed: reads go to the source as it
	// is, whatever its size is said to be (files of /proc say 0).
	pristine bool
}

// needsSource says whether reading or writing may have to look at the base.
func (c *content) needsSource() bool { return c.pristine || c.kept > 0 }

// readAt reads like io.ReaderAt; src is the source, opened.
func (c *content) readAt(p []byte, off int64, src io.ReaderAt) (int, error) {
	if c.pristine {
		return src.ReadAt(p, off)
	}
	done := 0
	for done < len(p) && off < c.size {
		start := off % pageSize
		part := p[done:min(int64(len(p)), int64(done)+pageSize-start, int64(done)+c.size-off)]
		if page, ok := c.pages[off/pageSize]; ok {
			copy(part, page[start:])
		} else if err := c.fill(part, off, src); err != nil {
			return done, err
		}
		done += len(part)
		off += int64(len(part))
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// fill gives what shows at off where no page is.
func (c *content) fill(p []byte, off int64, src io.ReaderAt) error {
	clear(p)
	if off >= c.kept {
		return nil
	}
	p = p[:min(int64(len(p)), c.kept-off)]
	if _, err := src.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// writeAt writes all of p at off.
func (c *content) writeAt(p []byte, off int64, src io.ReaderAt) error {
	c.pristine = false
	for len(p) > 0 {
		page, err := c.page(off/pageSize, src)
		if err != nil {
			return err
		}
		n := copy(page[off%pageSize:], p)
		p, off = p[n:], off+int64(n)
		c.size = max(c.size, off)
	}
	return nil
}

func (c *content) page(i int64, src io.ReaderAt) ([]byte, error) {
	if page, ok := c.pages[i]; ok {
		return page, nil
	}
	page := make([]byte, pageSize)
	if err := c.fill(page, i*pageSize, src); err != nil {
		return nil, err
	}
	if c.pages == nil {
		c.pages = map[int64][]byte{}
	}
	c.pages[i] = page
	return page, nil
}

// truncate sets the size; what is added is zeros.
func (c *content) truncate(size int64) {
	c.pristine = false
	c.kept = min(c.kept, size)
	for i, page := range c.pages {
		switch start := i * pageSize; {
		case start >= size:
			delete(c.pages, i)
		case start+pageSize > size:
			clear(page[size-start:])
		}
	}
	c.size = size
}
