package requirecapability

import (
	"context"
	"fmt"
	"path"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

// writable finds out without writing: by the mount and the nearest ancestor
// that exists.
func writable(dir string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		if found, err := ancestor(in.View, dir); err != nil || found != nil {
			return found, err
		}
		m, err := in.View.Storage.Mount(ctx, dir)
		if err != nil || !m.ReadOnly {
			return nil, err
		}
		return &finding{
			summary: fmt.Sprintf("%s cannot be written: %s is mounted read-only", dir, m.Point),
			advice:  "choose a directory on a writable mount, for example another --prefix",
		}, nil
	}
}

// ancestor looks at the nearest existing ancestor of dir, or dir itself.
func ancestor(v host.View, dir string) (*finding, error) {
	cannot := func(format string, args ...any) (*finding, error) {
		return &finding{summary: dir + " cannot be written: " + fmt.Sprintf(format, args...), advice: "put that right, or choose another directory"}, nil
	}
	for at := dir; ; at = path.Dir(at) {
		info, err := v.Files.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return cannot("%s is not a directory", at)
		case err == nil && !v.Identity.Privileged && info.Mode().Perm()&0o222 == 0:
			return cannot("%s has mode %04o", at, host.ModeBits(info.Mode()))
		case err == nil:
			return nil, nil
		case !host.Absent(err) || at == "/":
			return nil, err
		}
		if _, err := host.Lstat(v.Files, at); err == nil {
			return cannot("%s is a link that leads nowhere", at)
		}
	}
}

func executableFrom(dir string) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		m, err := in.View.Storage.Mount(ctx, dir)
		if err != nil || !m.NoExec {
			return nil, err
		}
		return &finding{
			summary: fmt.Sprintf("nothing can be run from %s: %s is mounted noexec", dir, m.Point),
			advice:  "choose a directory on another mount, or mount it with exec",
		}, nil
	}
}

func freeSpace(dir string, bytes uint64) probe {
	return func(ctx context.Context, in block.Look) (*finding, error) {
		m, err := in.View.Storage.Mount(ctx, dir)
		if err != nil || m.FreeBytes >= bytes {
			return nil, err
		}
		return &finding{
			summary: fmt.Sprintf("%s has %d bytes free (mounted at %s), %d are needed", dir, m.FreeBytes, m.Point, bytes),
			advice:  "free some space or use a larger disk",
		}, nil
	}
}
