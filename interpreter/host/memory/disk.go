package memory

import (
	"maps"
	"slices"
	"syscall"
	"time"
)

const (
	pageSize = 4096
	keepSize = -1
)

func pages(size int64) int64 { return (size + pageSize - 1) / pageSize * pageSize }

// disk is one file system: a journal of steps that are not durable yet, in
// order, and files whose data is not. A power loss leaves any prefix of the
// journal; each file's data independently. A volatile disk (tmpfs) keeps
// neither, as a power loss takes all of it.
type disk struct {
	dev      uint64
	volatile bool
	limit    int64 // in bytes; 0 is none
	used     int64
	inodes   uint64
	root     *inode
	journal  []op
	dirty    []*inode
}

// op is one step of the journal: changes of directory entries that happen
// together, or new attributes of node, with a new size unless keepSize.
type op struct {
	edits []edit
	node  *inode
	attr  attr
	size  int64
}

// edit sets an entry of a directory; a nil node removes it.
type edit struct {
	dir  *inode
	name string
	node *inode
}

func newDisk(dev uint64, volatile bool, limit int64, now time.Time) *disk {
	d := &disk{dev: dev, volatile: volatile, limit: limit}
	d.root = d.alloc(syscall.S_IFDIR, attr{perm: 0o755, mtime: now})
	d.root.nlink = 1
	return d
}

// alloc makes an inode that has no name yet.
func (d *disk) alloc(kind uint32, a attr) *inode {
	d.inodes++
	n := &inode{disk: d, ino: d.inodes, kind: kind, attr: a}
	n.stable.attr = a
	if kind == syscall.S_IFDIR {
		n.entries = map[string]*inode{}
		n.stable.entries = map[string]*inode{}
	}
	return n
}

// fit returns how far a file of size old may grow towards size.
func (d *disk) fit(old, size int64) int64 {
	if d.limit == 0 || pages(size)-pages(old) <= d.limit-d.used {
		return size
	}
	return pages(old) + (d.limit-d.used)/pageSize*pageSize
}

// free is the room left; an unlimited disk has 64 GiB.
func (d *disk) free() uint64 {
	limit := d.limit
	if limit == 0 {
		limit = 64 << 30
	}
	return uint64(max(0, limit-d.used))
}

// edit changes directory entries now and takes the step into the journal.
func (d *disk) edit(now time.Time, edits ...edit) {
	for _, e := range edits {
		e.apply(e.dir.entries)
		e.dir.attr.mtime = now
	}
	d.record(op{edits: edits})
}

func (e edit) apply(entries map[string]*inode) {
	if e.node == nil {
		delete(entries, e.name)
	} else {
		entries[e.name] = e.node
	}
}

func (d *disk) record(o op) {
	if !d.volatile {
		d.journal = append(d.journal, o)
	}
}

func (o op) touches(n *inode) bool {
	return o.node == n || slices.ContainsFunc(o.edits, func(e edit) bool { return e.dir == n })
}

// commit makes one step durable.
func (o op) commit() {
	for _, e := range o.edits {
		e.apply(e.dir.stable.entries)
	}
	if o.node == nil {
		return
	}
	o.node.stable.attr = o.attr
	if o.size != keepSize {
		o.node.stable.data = sized(slices.Clone(o.node.stable.data), o.size)
	}
}

// sync makes n durable: a file's data and attributes, but not its name; a
// directory's entries, with every earlier step that those depend on.
func (d *disk) sync(n *inode) {
	need := map[*inode]bool{n: true}
	chosen := make([]bool, len(d.journal))
	for i := len(d.journal) - 1; i >= 0; i-- {
		o := d.journal[i]
		for dir := range maps.Keys(need) {
			chosen[i] = chosen[i] || o.touches(dir)
		}
		if chosen[i] {
			for _, e := range o.edits {
				need[e.dir] = true
			}
		}
	}
	var rest []op
	for i, o := range d.journal {
		if chosen[i] {
			o.commit()
		} else {
			rest = append(rest, o)
		}
	}
	d.journal = rest
	d.clean(n)
}

func (d *disk) clean(n *inode) {
	n.stable.attr = n.attr
	if n.isFile() {
		n.stable.data = slices.Clip(n.data)
	}
	if n.dirty {
		n.dirty = false
		d.dirty = slices.DeleteFunc(d.dirty, func(o *inode) bool { return o == n })
	}
}

// syncAll makes everything durable.
func (d *disk) syncAll() {
	for _, o := range d.journal {
		o.commit()
	}
	d.journal = nil
	for _, n := range slices.Clone(d.dirty) {
		d.clean(n)
	}
}
