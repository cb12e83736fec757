package host

import (
	"context"
	"errors"
	"syscall"
)

// RemoveDir removes a directory durably, if nothing is in it and nothing is
// mounted on it; one that is gone already is no error. Otherwise it stays as it
// is, and stays says why: "holds files of others now", say.
func RemoveDir(ctx context.Context, h Host, dir string) (stays string, err error) {
	err = Remove(h.Files, dir)
	switch {
	case errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST):
		return "holds files of others now", nil
	case errors.Is(err, syscall.EBUSY):
		if m, merr := h.Storage.Mount(ctx, dir); merr == nil && m.Point == dir {
			return "is a mount point now", nil
		}
	}
	return "", err
}
