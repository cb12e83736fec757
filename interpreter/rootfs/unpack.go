package rootfs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"hostler/interpreter/host"
)

// Options are how an image is unpacked.
type Options struct {
	Limits Limits
	// MapOwners lets an unprivileged run go on: every owner becomes 0 and
	// attributes that only root can set are left out, and the result says so.
	// Without it such an entry fails the run.
	MapOwners bool
	// Progress, if set, is called as layers are read.
	Progress func(Progress)
}

// Result is what was unpacked.
type Result struct {
	Digest  string
	Entries int64
	Bytes   int64 // of regular files
	// Shared is how many bytes take no room of their own: they are those of
	// the tree of another machine made of the same image.
	Shared int64
	// Mapped is the number of entries whose owner became 0.
	Mapped int
	// Warnings say what was left out, each kind once for the first entry.
	Warnings []string
}

// maxWarnings bounds Result.Warnings.
const maxWarnings = 20

// Unpack makes dir of an image. What is at dir is removed first, mark before
// tree: whether it may be is for the caller to know. The tree is filled beside
// dir, made durable, put in place and then marked. Whenever it is killed, what
// is left is not taken for complete and the next Unpack clears it away.
//
// On a shadow nothing is read or unpacked: the tree becomes unknown, and the
// mark says that it would be complete.
//
// Errors name the layer and the entry.
func Unpack(ctx context.Context, image Image, h host.Host, dir string, o Options) (Result, error) {
	if u, ok := h.Files.(host.Unknowable); ok {
		return foresee(image, h, u, dir)
	}
	r, err := unpack(ctx, image, h, dir, o)
	if err != nil {
		return r, fmt.Errorf("unpack %s to %s: %w", image.Ref, dir, err)
	}
	return r, nil
}

func unpack(ctx context.Context, image Image, h host.Host, dir string, o Options) (Result, error) {
	if err := prepare(ctx, image, h, dir); err != nil {
		return Result{}, err
	}
	result, err := fill(ctx, image, h, dir, o)
	if err != nil {
		if isFull(err) {
			err = fmt.Errorf("%w (the file system of %s is full)", err, path.Dir(dir))
		}
		// The context may be what ended; clearing away must happen anyway.
		return result, errors.Join(err, RemoveTree(context.WithoutCancel(ctx), h, NewPath(dir)))
	}
	return result, publish(h, dir, image)
}

func foresee(image Image, h host.Host, u host.Unknowable, dir string) (Result, error) {
	if err := ensureDir(h.Files, stateDir(dir), 0o700); err != nil {
		return Result{}, err
	}
	if err := writeMark(h.Files, dir, image); err != nil {
		return Result{}, err
	}
	u.MarkUnknown(dir, "image "+image.Ref+" is not unpacked yet")
	return Result{Digest: image.Digest}, nil
}

// prepare clears away what an earlier run left and makes room.
func prepare(ctx context.Context, image Image, h host.Host, dir string) error {
	if err := ensureDir(h.Files, stateDir(dir), 0o700); err != nil {
		return err
	}
	if err := Unmark(h.Files, dir); err != nil {
		return err
	}
	for _, old := range []string{NewPath(dir), dir} {
		if err := RemoveTree(ctx, h, old); err != nil {
			return err
		}
	}
	if err := checkRoom(ctx, image, h, dir); err != nil {
		return err
	}
	return h.Files.Mkdir(NewPath(dir), 0o700)
}

func fill(ctx context.Context, image Image, h host.Host, dir string, o Options) (Result, error) {
	t, done, err := openTree(h, dir, image.Digest)
	if err != nil {
		return Result{}, err
	}
	result := Result{Digest: image.Digest}
	a := newApplier(t, rules{h.Identity.Privileged, o.MapOwners, o.Limits}, result.warn)
	err = applyLayers(ctx, a, image, o.Progress)
	if err == nil {
		err = a.finish(ctx)
	}
	result.Entries, result.Bytes, result.Mapped = a.entries, a.bytes, a.mapped
	if at, ok := t.(*atTree); ok {
		result.Shared = at.twin.shared
	}
	return result, errors.Join(err, done())
}

func (r *Result) warn(text string) {
	if len(r.Warnings) < maxWarnings && !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// openTree chooses the tree for a host, to fill where the new tree of dir is.
func openTree(h host.Host, dir, digest string) (tree, func() error, error) {
	door, ok := h.Files.(host.RealDir)
	if !ok {
		return doorTree{h.Files, NewPath(dir)}, func() error { return nil }, nil
	}
	at, err := door.RealDir(NewPath(dir))
	if err != nil {
		return nil, nil, err
	}
	t, err := newAtTree(at, h.Identity.Privileged)
	if err != nil {
		return nil, nil, err
	}
	if name := findTwin(h.Files, dir, digest); name != "" {
		if err := t.addTwin(door, name); err != nil {
			return nil, nil, errors.Join(err, t.Close())
		}
	}
	return t, t.Close, nil
}

func (t *atTree) addTwin(door host.RealDir, name string) error {
	real, err := door.RealDir(name)
	if err != nil {
		return err
	}
	return t.openTwin(real)
}

// publish makes the tree durable, puts it in place and marks it.
func publish(h host.Host, dir string, image Image) error {
	if err := h.Files.SyncTree(NewPath(dir)); err != nil {
		return fmt.Errorf("make it durable: %w", err)
	}
	if err := host.Rename(h.Files, NewPath(dir), dir); err != nil {
		return err
	}
	return writeMark(h.Files, dir, image)
}
