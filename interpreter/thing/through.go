package thing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	"hostler/interpreter/host"
)

// Through is a file at a path that is written in an unusual way: through a
// link, or in place because a mount point is there.
type Through struct {
	Path Path
	// Follow says that a link at the path is followed to the file.
	Follow bool
	// InPlace says that a file which cannot be renamed over is overwritten.
	InPlace bool
}

// Key is that of the path.
func (t Through) Key() Key { return t.Path.Key() }

// File is the name of the file itself.
func (t Through) File(f host.FileView) (string, error) {
	if !t.Follow {
		return string(t.Path), nil
	}
	return FollowLinks(f, string(t.Path))
}

// Look describes the file.
func (t Through) Look(_ context.Context, v host.View) (State, error) {
	name, err := t.File(v.Files)
	if err != nil {
		return State{}, err
	}
	return LookPath(v.Files, name)
}

// Save keeps the file.
func (t Through) Save(ctx context.Context, h host.Host, k Keeper, key Key, found State) (string, error) {
	name, err := t.File(h.Files)
	if err != nil {
		return "", err
	}
	return k.Keep(ctx, h, key, name, found)
}

// PutBack removes the file we made, or puts the original back where it was.
func (t Through) PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error {
	name, err := t.File(h.Files)
	if err != nil {
		return err
	}
	if o.Kind == OriginSaved && t.InPlace {
		return restoreInPlace(ctx, h, o, k, name)
	}
	return Path(name).PutBack(ctx, h, o, k)
}

// restoreInPlace tries the usual way first, which a mount point at name
// refuses.
func restoreInPlace(ctx context.Context, h host.Host, o Origin, k Keeper, name string) error {
	err := k.Restore(ctx, h, o.Backup, name)
	if !InTheWay(h.Files, name, err) {
		return err
	}
	var kept kept
	if err := kept.load(ctx, h, k, o.Backup, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := Overwrite(h.Files, name, kept.bytes); err != nil {
		return err
	}
	if err := host.SetAccess(h.Files, name, kept.access); err != nil {
		return err
	}
	return h.Files.Chtimes(name, kept.mtime, kept.mtime)
}

// InTheWay says whether err of replacing name means only that a mount point is
// there, so that the file can be overwritten in place.
func InTheWay(f host.FileView, name string, err error) bool {
	if !errors.Is(err, syscall.EBUSY) {
		return false
	}
	_, left := host.Lstat(f, host.TemporaryName(name))
	return host.Absent(left)
}

type kept struct {
	bytes  []byte
	access host.Access
	mtime  time.Time
}

// load reads an original by way of a temporary file beside name.
func (b *kept) load(ctx context.Context, h host.Host, k Keeper, backup, name string) error {
	tmp := host.TemporaryName(name)
	if err := k.Restore(ctx, h, backup, tmp); err != nil {
		return errors.Join(err, host.Remove(h.Files, tmp))
	}
	info, err := host.Lstat(h.Files, tmp)
	if err == nil {
		st := host.StatOf(info)
		b.access, b.mtime = host.Access{Mode: host.ModeBits(info.Mode()), UID: st.UID, GID: st.GID}, info.ModTime()
		b.bytes, err = ReadAll(h.Files, tmp)
	}
	return errors.Join(err, host.Remove(h.Files, tmp))
}

// Kept returns the bytes of the original file that a Keeper holds, by way of a
// temporary file beside name.
func Kept(ctx context.Context, h host.Host, k Keeper, backup, name string) ([]byte, error) {
	var b kept
	err := b.load(ctx, h, k, backup, name)
	return b.bytes, err
}

// ReadAll reads a file.
func ReadAll(f host.FileView, name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(file)
	return b, errors.Join(err, file.Close())
}

// Overwrite replaces the bytes of an existing file in place, durably: readers
// may see it half written, and its inode, mode and owner stay.
func Overwrite(f host.Files, name string, b []byte) error {
	file, err := f.OpenFile(name, syscall.O_WRONLY|syscall.O_TRUNC, 0)
	if err != nil {
		return host.Explain(err)
	}
	_, err = file.Write(b)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// maxLinks is how many links Linux follows in one path.
const maxLinks = 40

// FollowLinks follows final links at name and returns the name of what they
// lead to, which need not exist.
func FollowLinks(f host.FileView, name string) (string, error) {
	at := name
	for range maxLinks {
		info, err := host.Lstat(f, at)
		if host.Absent(err) {
			return at, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return at, nil
		}
		target, err := f.ReadlinkIfPossible(at)
		if err != nil {
			return "", err
		}
		if !path.IsAbs(target) {
			dir, err := realDir(f, path.Dir(at))
			if err != nil {
				return "", err
			}
			target = path.Join(dir, target)
		}
		at = path.Clean(target)
	}
	return "", fmt.Errorf("%s: %w", name, syscall.ELOOP)
}

// realDir resolves the links of a directory's own path, which matters for a
// relative link with "..".
func realDir(f host.FileView, dir string) (string, error) {
	if dir == "/" {
		return dir, nil
	}
	parent, err := realDir(f, path.Dir(dir))
	if err != nil {
		return "", err
	}
	at := path.Join(parent, path.Base(dir))
	info, err := host.Lstat(f, at)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return at, err
	}
	return FollowLinks(f, at)
}
