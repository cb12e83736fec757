package lab

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Entry is all of a file, directory or link that counts, but its times.
type Entry struct {
	Mode     fs.FileMode
	UID, GID uint32
	// Content is the SHA-256 of a file, the target of a link, the number of a
	// device; empty for others.
	Content string
	// Xattrs are the extended attributes, name=value, sorted.
	Xattrs []string
}

// Snapshot is everything below a directory, by path relative to it; the
// directory itself is ".". What is below one of the skipped paths, and those
// paths themselves, are left out.
func Snapshot(t testing.TB, dir string, skip ...string) map[string]Entry {
	t.Helper()
	all := map[string]Entry{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if slices.Contains(skip, name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		all[name], err = entry(path)
		return err
	})
	if err != nil {
		t.Fatalf("lab: taking a snapshot: %v", err)
	}
	return all
}

// Changes are the differences between two snapshots, sorted by path: "+ path"
// for what is new, "- path" for what is gone, "~ path: what" for the rest.
func Changes(before, after map[string]Entry) []string {
	var lines []string
	for path, old := range before {
		now, ok := after[path]
		switch {
		case !ok:
			lines = append(lines, "- "+path)
		case !old.equal(now):
			lines = append(lines, fmt.Sprintf("~ %s: %s", path, old.difference(now)))
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			lines = append(lines, "+ "+path)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return lines
}

func (e Entry) equal(o Entry) bool { return e.difference(o) == "" }

// difference names what differs.
func (e Entry) difference(o Entry) string {
	var what []string
	if e.Mode != o.Mode {
		what = append(what, fmt.Sprintf("mode %v → %v", e.Mode, o.Mode))
	}
	if e.UID != o.UID || e.GID != o.GID {
		what = append(what, fmt.Sprintf("owner %d:%d → %d:%d", e.UID, e.GID, o.UID, o.GID))
	}
	if e.Content != o.Content {
		what = append(what, "content")
	}
	if !slices.Equal(e.Xattrs, o.Xattrs) {
		what = append(what, "xattrs")
	}
	return strings.Join(what, ", ")
}

func entry(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Entry{}, errors.New("no owner known for " + path)
	}
	e := Entry{Mode: info.Mode(), UID: stat.Uid, GID: stat.Gid}
	switch {
	case info.Mode().IsRegular():
		e.Content, err = digest(path)
	case info.Mode()&fs.ModeSymlink != 0:
		e.Content, err = os.Readlink(path)
	case info.Mode()&fs.ModeDevice != 0:
		e.Content = fmt.Sprintf("%d:%d", unix.Major(stat.Rdev), unix.Minor(stat.Rdev))
	}
	if err != nil {
		return Entry{}, err
	}
	e.Xattrs, err = xattrs(path)
	return e, err
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func xattrs(path string) ([]string, error) {
	names := make([]byte, 64<<10) // the kernel's limit for both
	n, err := unix.Llistxattr(path, names)
	if errors.Is(err, unix.ENOTSUP) || n == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: path, Err: err}
	}
	var all []string
	value := make([]byte, 64<<10)
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		size, err := unix.Lgetxattr(path, name, value)
		if err != nil {
			return nil, &fs.PathError{Op: "getxattr", Path: path, Err: err}
		}
		all = append(all, fmt.Sprintf("%s=%q", name, value[:size]))
	}
	slices.Sort(all)
	return all, nil
}
