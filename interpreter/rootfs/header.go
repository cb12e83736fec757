package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Names that layers use for what they hide, and the PAX record of extended
// attributes.
const (
	whiteoutPrefix = ".wh."
	whiteoutMeta   = ".wh..wh."
	opaqueMarker   = ".wh..wh..opq"
	paxXattr       = "SCHILY.xattr."
)

// cleanName is an entry's name relative to the tree's top, "." for the top
// itself.
func cleanName(name string) (string, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return "", errors.New("its name holds a NUL")
	}
	parts := split(name)
	for _, part := range parts {
		if part == ".." {
			return "", errors.New(`its name holds ".."`)
		}
		if len(part) > 255 {
			return "", errors.New("a part of its name is longer than 255 bytes")
		}
	}
	clean := strings.Join(parts, "/")
	switch {
	case clean == "" && name == "":
		return "", errors.New("its name is empty")
	case clean == "":
		return ".", nil
	case len(clean) > maxName:
		return "", errTooLong
	}
	return clean, nil
}

// isDirectory says whether the entry is a directory. Old archives mark one
// only by a slash at the end of its name.
func isDirectory(h *tar.Header) bool {
	return h.Typeflag == tar.TypeDir || isRegular(h) && strings.HasSuffix(h.Name, "/")
}

func isRegular(h *tar.Header) bool {
	switch h.Typeflag {
	case tar.TypeReg, '\x00', tar.TypeCont, tar.TypeGNUSparse:
		return true
	}
	return false
}

// format returns S_IFMT of a special file, 0 if the entry is none.
func format(h *tar.Header) uint32 {
	switch h.Typeflag {
	case tar.TypeChar:
		return syscall.S_IFCHR
	case tar.TypeBlock:
		return syscall.S_IFBLK
	case tar.TypeFifo:
		return syscall.S_IFIFO
	}
	return 0
}

// objectOf is the entry without its content.
func objectOf(h *tar.Header, at attrs) (object, error) {
	o := object{attrs: at, format: format(h)}
	switch {
	case isRegular(h):
		o.size = h.Size
	case h.Typeflag == tar.TypeSymlink:
		o.target = h.Linkname
		return o, checkTarget(h.Linkname)
	case o.format == syscall.S_IFCHR || o.format == syscall.S_IFBLK:
		if h.Devmajor < 0 || h.Devmajor > maxMajor || h.Devminor < 0 || h.Devminor > maxMinor {
			return o, fmt.Errorf("its device number %d:%d is out of range", h.Devmajor, h.Devminor)
		}
		o.dev = unix.Mkdev(uint32(h.Devmajor), uint32(h.Devminor))
	case o.format == 0:
		return o, fmt.Errorf("entries of type %q are not supported", h.Typeflag)
	}
	return o, nil
}

// The largest numbers of devices that Linux knows; of larger ones mknod(2)
// takes what fits, which is another device's.
const (
	maxMajor = 1<<12 - 1
	maxMinor = 1<<20 - 1
)

func checkTarget(target string) error {
	switch {
	case target == "":
		return errors.New("the link's target is empty")
	case len(target) > maxTarget:
		return errors.New("the link's target is longer than 4095 bytes")
	case strings.IndexByte(target, 0) >= 0:
		return errors.New("the link's target holds a NUL")
	}
	return nil
}

// attrsOf are the entry's attributes; records of a global header stand in for
// those it does not say itself.
func attrsOf(h *tar.Header, global map[string]string) (attrs, error) {
	a := attrs{mode: uint32(h.Mode) & 0o7777, uid: h.Uid, gid: h.Gid, mtime: nanoseconds(h.ModTime)}
	records := h.PAXRecords
	if len(global) > 0 {
		records = maps.Clone(global)
		maps.Copy(records, h.PAXRecords)
		if err := applyGlobal(&a, h.PAXRecords, global); err != nil {
			return a, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if attr, ok := strings.CutPrefix(key, paxXattr); ok {
			a.xattrs = append(a.xattrs, xattr{attr, records[key]})
		}
	}
	const maxID = math.MaxUint32 - 1 // the last one means "leave it"
	if a.uid < 0 || a.gid < 0 || int64(a.uid) > maxID || int64(a.gid) > maxID {
		return a, fmt.Errorf("owner %d:%d is out of range", a.uid, a.gid)
	}
	return a, nil
}

// nanoseconds clamps times outside of what 64 bits of nanoseconds hold.
func nanoseconds(t time.Time) int64 {
	const limit = math.MaxInt64 / 1_000_000_000
	switch s := t.Unix(); {
	case s >= limit:
		return limit * 1_000_000_000
	case s <= -limit:
		return -limit * 1_000_000_000
	}
	return t.UnixNano()
}
