package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// copyTree copies a tree with modes, owners, links, attributes and times.
func copyTree(ctx context.Context, to host.Files, dst string, from host.Files, src string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := host.Lstat(from, src)
	if err != nil {
		return err
	}
	side := Sidecar{ModTime: info.ModTime().UnixNano(), State: thing.State{Kind: thing.File}}
	if side.Xattrs, err = readXattrs(from, src); err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		err = copyDir(ctx, to, dst, from, src)
	case mode&fs.ModeSymlink != 0:
		side.State.Kind = thing.Link
		err = copyLink(to, dst, from, src)
	case mode.IsRegular():
		err = copyFile(to, dst, from, src)
	default:
		err = fmt.Errorf("%s is neither a file, a link nor a directory", src)
	}
	if err != nil {
		return err
	}
	st := host.StatOf(info)
	if err := to.Lchown(dst, st.UID, st.GID); err != nil {
		return err
	}
	if side.State.Kind != thing.Link {
		if err := to.Chmod(dst, host.FileMode(host.ModeBits(info.Mode()))); err != nil {
			return err
		}
	}
	return errors.Join(writeXattrs(to, dst, side.Xattrs), setTimes(to, dst, side))
}

func copyDir(ctx context.Context, to host.Files, dst string, from host.Files, src string) error {
	if err := to.Mkdir(dst, 0o700); err != nil {
		return err
	}
	names, err := readDir(from, src)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyTree(ctx, to, path.Join(dst, name), from, path.Join(src, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyLink(to host.Files, dst string, from host.Files, src string) error {
	target, err := from.ReadlinkIfPossible(src)
	if err != nil {
		return err
	}
	return to.SymlinkIfPossible(target, dst)
}

func copyFile(to host.Files, dst string, from host.Files, src string) error {
	in, err := from.Open(src)
	if err != nil {
		return err
	}
	out, err := to.OpenFile(dst, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), in.Close())
}
