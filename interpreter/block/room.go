package block

import (
	"context"
	"fmt"
	"path"

	"hostler/interpreter/host"
)

// Writable says why nothing can be made in a directory, nil if it can. It finds
// out without writing: by the nearest ancestor that exists, or the directory
// itself, and the mount that is on. What cannot be known wraps
// host.ErrUnknown.
func Writable(ctx context.Context, v host.View, dir string) (*Unmet, error) {
	if found, err := ancestor(v, dir); err != nil || found != nil {
		return found, err
	}
	m, err := v.Storage.Mount(ctx, dir)
	if err != nil || !m.ReadOnly {
		return nil, err
	}
	return &Unmet{
		Summary: fmt.Sprintf("%s cannot be written: %s is mounted read-only", dir, m.Point),
		Advice:  "choose a directory on a writable mount, for example another --prefix",
	}, nil
}

// ancestor looks at the nearest existing ancestor of dir, or dir itself.
func ancestor(v host.View, dir string) (*Unmet, error) {
	cannot := func(format string, args ...any) (*Unmet, error) {
		return &Unmet{Summary: dir + " cannot be written: " + fmt.Sprintf(format, args...), Advice: "put that right, or choose another directory"}, nil
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

// RunsFrom says why no program can be run from a directory, which need not be
// there, nil if it can.
func RunsFrom(ctx context.Context, v host.View, dir string) (*Unmet, error) {
	m, err := v.Storage.Mount(ctx, dir)
	if err != nil || !m.NoExec {
		return nil, err
	}
	return &Unmet{
		Summary: fmt.Sprintf("nothing can be run from %s: %s is mounted noexec", dir, m.Point),
		Advice:  "choose a directory on another mount, or mount it with exec",
	}, nil
}
