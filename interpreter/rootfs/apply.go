package rootfs

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// Limits bound what an image may unpack to.
type Limits struct {
	// Bytes is the most that all layers may hold uncompressed, and Entries the
	// most entries they may have; 0 means the default.
	Bytes   int64
	Entries int64
}

// The default limits.
const (
	DefaultMaxBytes   = 128 << 30
	DefaultMaxEntries = 4 << 20
)

// rules are how entries are taken.
type rules struct {
	privileged bool
	mapOwners  bool
	limits     Limits
}

// applier applies layers to an empty tree.
type applier struct {
	tree    tree
	rules   rules
	root    *node
	layer   int32
	plain   bool // whiteouts are ordinary names
	global  map[string]string
	entries int64
	bytes   int64
	mapped  int
	held    int64 // about how much memory the mirror takes
	warn    func(string)

	// last is where the last entry's directory was found; it holds until
	// something is removed.
	last     place
	lastName string
}

func newApplier(t tree, r rules, warn func(string)) *applier {
	if r.limits.Bytes == 0 {
		r.limits.Bytes = DefaultMaxBytes
	}
	if r.limits.Entries == 0 {
		r.limits.Entries = DefaultMaxEntries
	}
	return &applier{tree: t, rules: r, root: newDir(nil), warn: warn}
}

// apply applies one layer, a tar. It leaves what follows the end of the
// archive in r.
func (a *applier) apply(ctx context.Context, r io.Reader, plain bool) error {
	a.layer++
	a.plain, a.global = plain, nil
	archive := tar.NewReader(r)
	last := ""
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(last, err)
		}
		if err := a.entry(h, archive); err != nil {
			return entryError(h.Name, err)
		}
		last = h.Name
	}
}

func broken(last string, err error) error {
	if last == "" {
		return fmt.Errorf("not a readable tar: %w", err)
	}
	return fmt.Errorf("the tar is damaged after entry %q: %w", shorten(last), err)
}

// entryError names the entry, unless the fault is of an earlier one.
func entryError(name string, err error) error {
	if late, ok := errors.AsType[*lateError](err); ok {
		return late
	}
	return fmt.Errorf("entry %q: %w", shorten(name), err)
}

// shorten keeps hostile names from filling an error text.
func shorten(name string) string {
	if len(name) > 300 {
		return name[:300] + "…"
	}
	return name
}

func (a *applier) entry(h *tar.Header, content io.Reader) error {
	if a.entries++; a.entries > a.rules.limits.Entries {
		return fmt.Errorf("the image has more than %d entries, the limit", a.rules.limits.Entries)
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		global, err := mergeGlobal(a.global, h)
		a.global = global
		return err
	}
	if h.Typeflag == 'V' { // a volume's label
		return nil
	}
	name, err := cleanName(h.Name)
	if err != nil {
		return err
	}
	if !a.plain {
		if done, err := a.whiteout(name); done || err != nil {
			return err
		}
	}
	return a.take(h, name, content)
}

func (a *applier) take(h *tar.Header, name string, content io.Reader) error {
	if h.Typeflag == tar.TypeLink {
		return a.hardLink(name, h.Linkname)
	}
	at, err := attrsOf(h, a.global)
	if err != nil {
		return err
	}
	if err := a.admit(&at); err != nil {
		return err
	}
	if isDirectory(h) {
		return a.directory(name, at)
	}
	o, err := objectOf(h, at)
	if err != nil {
		return err
	}
	if isRegular(h) {
		if h.Size > a.rules.limits.Bytes-a.bytes {
			return fmt.Errorf("the image unpacks to more than %d bytes, the limit", a.rules.limits.Bytes)
		}
		a.bytes += h.Size
		o.content = content
	}
	return a.object(name, o)
}

// admit holds the entry against what an unprivileged user can make.
func (a *applier) admit(at *attrs) error {
	kept := at.xattrs[:0]
	for _, x := range at.xattrs {
		switch {
		case x.name == "security.selinux":
			a.warn("security.selinux labels are left out: the host's policy has its own")
		case a.rules.privileged || strings.HasPrefix(x.name, "user."):
			kept = append(kept, x)
		case a.rules.mapOwners:
			a.warn(x.name + " is left out: it needs root")
		default:
			return fmt.Errorf("%s can only be set by root", x.name)
		}
	}
	at.xattrs = kept
	if a.rules.privileged || at.uid == 0 && at.gid == 0 {
		return nil
	}
	if !a.rules.mapOwners {
		return fmt.Errorf("owner %d:%d can only be set by root; run as root", at.uid, at.gid)
	}
	a.mapped++
	at.uid, at.gid = 0, 0
	return nil
}

func (a *applier) directory(name string, at attrs) error {
	if name == "." {
		a.root.attrs = at
		return nil
	}
	dir, base, err := a.parent(name)
	if err != nil {
		return err
	}
	n := dir.dir.kids[base]
	if n == nil || n.kind != isDir {
		if n, err = a.makeDir(dir, base); err != nil {
			return err
		}
	}
	n.touch(a.layer)
	n.attrs = at
	for _, x := range at.xattrs {
		a.held += int64(len(x.name) + len(x.value))
	}
	return a.full()
}

func (a *applier) object(name string, o object) error {
	if name == "." {
		return errors.New("the top of the tree can only be a directory")
	}
	if !a.rules.privileged && (o.format == syscall.S_IFCHR || o.format == syscall.S_IFBLK) {
		return errors.New("a device node can only be made by root; run as root")
	}
	at, base, err := a.parent(name)
	if err != nil {
		return err
	}
	if err := a.remove(at, base); err != nil {
		return err
	}
	warning, err := a.tree.Put(at.join(base), o)
	if err != nil {
		return err
	}
	a.said(at.join(base), warning)
	n := &node{kind: isFile, layer: a.layer, target: strings.Clone(o.target)}
	if o.target != "" {
		n.kind = isLink
	}
	return a.add(at, base, n)
}

func (a *applier) said(name, warning string) {
	if warning != "" {
		a.warn(name + ": " + warning)
	}
}
