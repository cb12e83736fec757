package memory

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"syscall"

	"hostler/interpreter/host"
)

// mountStatic mounts a file system that is mounted again at every boot.
func (m *Memory) mountStatic(spec Mount) {
	if err := m.mount(spec, true); err != nil {
		panic(fmt.Sprintf("memory host: options mount %s: %v", spec.Point, err))
	}
}

// Mount mounts an empty file system until it is unmounted or the host boots.
// The directory is made if it is missing.
func (m *Memory) Mount(spec Mount) error { return m.mount(spec, false) }

func (m *Memory) mount(spec Mount, static bool) error {
	if spec.Type == "" {
		spec.Type = "tmpfs"
	}
	if spec.Source == "" {
		spec.Source = spec.Type
	}
	t := m.tree
	if err := m.admin.MkdirAll(spec.Point, 0o755); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d := newDisk(t.dev(), spec.Type == "tmpfs", spec.Size, t.now())
	return t.attach(&mount{spec: spec, root: d.root, static: static})
}

// attach puts a mount over what is at its point now.
func (t *tree) attach(mnt *mount) error {
	on, err := t.find(t.root(), mnt.spec.Point, true)
	if err != nil {
		return err
	}
	mnt.on = on
	t.over[on] = mnt
	t.mounts = append(t.mounts, mnt)
	return nil
}

// bindFile mounts a file over itself, as container runtimes do.
func (m *Memory) bindFile(name string) {
	m.bind(name, func(t *tree, under place) *mount {
		d := newDisk(t.dev(), false, 0, t.now())
		d.root.kind, d.root.entries, d.root.stable.entries = syscall.S_IFREG, nil, nil
		d.root.attr, d.root.data = under.node.attr, slices.Clone(under.node.data)
		d.clean(d.root)
		return &mount{spec: Mount{Point: name, Type: "ext4", Source: "/dev/vda1"}, root: d.root, static: true}
	})
}

// bindReadOnly mounts a directory over itself, read-only. It is made if it is
// missing.
func (m *Memory) bindReadOnly(dir string) {
	if err := m.admin.MkdirAll(dir, 0o755); err != nil {
		panic(fmt.Sprintf("memory host: options mount %s: %v", dir, err))
	}
	m.bind(dir, func(_ *tree, under place) *mount {
		spec := under.mnt.spec
		spec.Point, spec.ReadOnly = path.Clean(dir), true
		return &mount{spec: spec, root: under.node, static: true}
	})
}

func (m *Memory) bind(name string, build func(*tree, place) *mount) {
	t := m.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	under, err := t.find(t.root(), name, true)
	if err == nil {
		err = t.attach(build(t, under))
	}
	if err != nil {
		panic(fmt.Sprintf("memory host: options mount %s: %v", name, err))
	}
}

// unmount detaches what is mounted at a place.
func (t *tree) unmount(at place) error {
	mnt := at.mnt
	switch {
	case at.node != mnt.root || mnt == t.mounts[0]:
		return syscall.EINVAL
	case mnt.opens > 0 || t.holdsMounts(mnt):
		return syscall.EBUSY
	}
	delete(t.over, mnt.on)
	t.mounts = slices.DeleteFunc(t.mounts, func(o *mount) bool { return o == mnt })
	return nil
}

func (t *tree) holdsMounts(mnt *mount) bool {
	for on := range t.over {
		if on.mnt == mnt {
			return true
		}
	}
	return false
}

// disks are the mounted disks, each once, the root's first.
func (t *tree) disks() []*disk {
	var list []*disk
	for _, mnt := range t.mounts {
		if !slices.Contains(list, mnt.root.disk) {
			list = append(list, mnt.root.disk)
		}
	}
	return list
}

func (t *tree) syncAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.disks() {
		d.syncAll()
	}
}

// losePower takes what is not durable from every disk and mounts what is
// mounted at boot. Handles of before are dead.
func (t *tree) losePower(choose func(n int) int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lives++
	for _, d := range t.disks() {
		if d.volatile {
			continue
		}
		d.losePower(choose)
	}
	static := slices.DeleteFunc(slices.Clone(t.mounts[1:]), func(mnt *mount) bool { return !mnt.static })
	t.mounts = t.mounts[:1]
	clear(t.over)
	t.mounts[0].opens = 0
	for _, mnt := range static {
		t.remount(mnt)
	}
}

// remount mounts at boot: a volatile disk is empty, a mount point that is
// missing is made, and a bind mount shows what its directory is now.
func (t *tree) remount(mnt *mount) {
	d := mnt.root.disk
	switch {
	case d.volatile:
		mnt.root = newDisk(d.dev, true, d.limit, t.now()).root
	case mnt.root != d.root:
		at, err := t.find(t.root(), mnt.spec.Point, true)
		if err != nil {
			return
		}
		mnt.root = at.node
	}
	mnt.opens = 0
	if t.ensure(mnt.spec.Point, mnt.root.isDir()) == nil {
		_ = t.attach(mnt)
	}
}

// ensure makes a mount point that is missing.
func (t *tree) ensure(name string, dir bool) error {
	f := &files{t: t}
	if dir {
		return f.mkdirAll(t.root(), name, 0o755)
	}
	l, err := t.walk(t.root(), name, true)
	if err == nil && !l.found() {
		_, err = t.create(l, syscall.S_IFREG, 0o644)
	}
	return err
}

// mounted lists mounts by mount point.
func (t *tree) mounted() []*mount {
	t.mu.Lock()
	defer t.mu.Unlock()
	byPoint := map[string]*mount{}
	for _, mnt := range t.mounts {
		byPoint[mnt.spec.Point] = mnt
	}
	var list []*mount
	for _, point := range slices.Sorted(maps.Keys(byPoint)) {
		list = append(list, byPoint[point])
	}
	return list
}

func (mnt *mount) state() host.MountState {
	s := mnt.spec
	return host.MountState{Point: s.Point, Source: s.Source, Type: s.Type, ReadOnly: s.ReadOnly, NoExec: s.NoExec}
}
