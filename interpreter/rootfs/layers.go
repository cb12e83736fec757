package rootfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// ahead is how many layers are read and decompressed before their turn, as far
// as their read-ahead goes: more with more processors.
func ahead() int { return max(1, min(3, runtime.GOMAXPROCS(0)/2)) }

// applyLayers applies all layers in order, and reads the next ones meanwhile.
func applyLayers(ctx context.Context, a *applier, image Image, progress func(Progress)) error {
	ctx, stop := context.WithCancel(ctx)
	limit := a.rules.limits.Bytes
	run := layerRun{applier: a, image: image, progress: progress, budget: budget{left: limit, limit: limit}}
	fetching := prefetch(ctx, image)
	defer func() {
		stop()
		run.close()
		_ = fetching.Wait() // each fault was seen by the layer that needed the blob
	}()
	for i := range image.Layers {
		if err := run.one(ctx, i); err != nil {
			if blob := image.Layers[i].blob; blob != "" && ctx.Err() == nil && !isFull(err) {
				err = image.store.recheck(ctx, blob, err)
			}
			return fmt.Errorf("layer %s: %w", layerName(image.Layers[i], i), err)
		}
	}
	return nil
}

func layerName(l Layer, i int) string {
	switch {
	case l.Digest != "":
		return l.Digest
	case l.DiffID != "":
		return l.DiffID
	}
	return fmt.Sprint(i + 1)
}

type layerRun struct {
	applier  *applier
	image    Image
	progress func(Progress)
	streams  []*stream // opened, in order
	opened   int       // how many were opened so far
	budget   budget
	done     int64
}

func (r *layerRun) one(ctx context.Context, i int) error {
	for r.opened < min(i+1+ahead(), len(r.image.Layers)) {
		r.streams = append(r.streams, openStream(ctx, r.image.Layers[r.opened]))
		r.opened++
	}
	now := r.streams[0]
	r.streams = r.streams[1:]
	defer now.close()
	now.budget, now.seen = &r.budget, r.report
	in := &ending{Reader: now}
	if err := r.applier.apply(ctx, in, r.image.Layers[i].plain); err != nil {
		return err
	}
	if in.ended && r.image.Layers[i].unsure {
		return errNoEndMark
	}
	return now.finish()
}

// ending notes that the end of a layer was read. Who reads a tar knows its end
// by a mark, and does not go on to that of the bytes.
type ending struct {
	io.Reader
	ended bool
}

// Read reads.
func (e *ending) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	e.ended = e.ended || errors.Is(err, io.EOF)
	return n, err
}

var errNoEndMark = errors.New("the tar stops without the mark of its end, so it may have been cut off; make or copy it again, or give its sha256 to have it taken as it is")

func (r *layerRun) close() {
	for _, s := range r.streams {
		s.close()
	}
}

// parallel is how many layers are fetched at the same time.
const parallel = 3

// prefetch starts to fetch all layers that are not local, in order.
func prefetch(ctx context.Context, image Image) *errgroup.Group {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel + 1) // and the one that starts them
	group.Go(func() error {
		for _, l := range image.Layers {
			if l.fetch != nil {
				group.Go(func() error { return l.fetch(ctx) })
			}
		}
		return nil
	})
	return group
}

// Prefetch fetches what of the image is not in the store yet.
func Prefetch(ctx context.Context, image Image) error { return prefetch(ctx, image).Wait() }

// report is told of stored bytes as their content is applied.
func (r *layerRun) report(n int64) {
	r.done += n
	if r.progress != nil {
		r.progress(Progress{What: "unpack", Name: r.image.title(), Done: r.done, Total: r.image.Size})
	}
}
