package rootfs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/klauspost/compress/zstd"

	"hostler/interpreter/host"
)

// checkRoom fails early where the image does not fit: its tree is about as
// large as the tars of its layers, and what is not in the store yet comes on
// top where that lies on the same file system. Sizes that nobody says count as
// the compressed ones.
func checkRoom(ctx context.Context, image Image, h host.Host, dir string) error {
	tree, fetched, err := image.needs(ctx)
	if err != nil {
		return err
	}
	at, known, err := mountOf(ctx, h.Storage, path.Dir(dir))
	if err != nil || !known {
		return err
	}
	if fetched > 0 {
		cache, known, err := mountOf(ctx, h.Storage, image.store.dir)
		switch {
		case err != nil || !known:
			return err
		case cache.Point == at.Point:
			tree += fetched
		case uint64(fetched) > cache.FreeBytes:
			return fmt.Errorf("%d bytes must be fetched to %s, but %s has only %d free", fetched, image.store.dir, cache.Point, cache.FreeBytes)
		}
	}
	if uint64(tree) > at.FreeBytes {
		return fmt.Errorf("the image needs at least %d bytes, but %s has only %d free", tree, at.Point, at.FreeBytes)
	}
	return nil
}

func mountOf(ctx context.Context, s host.StorageView, name string) (m host.MountState, known bool, err error) {
	m, err = s.Mount(ctx, name)
	if errors.Is(err, host.ErrUnknown) {
		return m, false, nil
	}
	return m, err == nil, err
}

// needs is how many bytes the tree takes, as far as that is known, and how
// many must be fetched first.
func (i Image) needs(ctx context.Context) (tree, fetched int64, err error) {
	for _, l := range i.Layers {
		if l.fetch != nil {
			there, err := i.store.has(l.blob)
			if err != nil {
				return 0, 0, err
			}
			if !there {
				tree, fetched = tree+l.Size, fetched+l.Size
				continue
			}
		}
		size := l.Size
		if !i.packed {
			size = max(size, l.unpackedSize(ctx))
		}
		tree += size
	}
	return max(tree, i.Size), fetched, nil
}

// unpackedSize is how large the layer's tar is at least, 0 if it is not known.
// A layer that cannot be read says so when it is unpacked.
func (l Layer) unpackedSize(ctx context.Context) int64 {
	r, err := l.open(ctx)
	if err != nil {
		return 0
	}
	size := int64(0)
	if file, ok := r.(io.ReadSeeker); ok {
		size = saidSize(file)
	}
	if r.Close() != nil {
		return 0
	}
	return size
}

// saidSize is what compressed data says of its uncompressed size: gzip at its
// end, of its last part and within 4 GiB, zstd at its beginning, of its first
// part.
func saidSize(file io.ReadSeeker) int64 {
	head := make([]byte, zstd.HeaderMaxSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0
	}
	switch compression(head[:n]) {
	case "gzip":
		tail := make([]byte, 4)
		if _, err := file.Seek(-4, io.SeekEnd); err != nil {
			return 0
		}
		if _, err := io.ReadFull(file, tail); err != nil {
			return 0
		}
		return int64(binary.LittleEndian.Uint32(tail))
	case "zstd":
		var h zstd.Header
		if h.Decode(head[:n]) == nil && h.HasFCS && h.FrameContentSize <= DefaultMaxBytes {
			return int64(h.FrameContentSize)
		}
	}
	return 0
}
