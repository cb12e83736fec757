package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// image is an image in all the forms that contenders take.
type image struct {
	name    string
	tars    []string // of the layers, uncompressed
	layers  []string // compressed
	blobs   []string // the same, as files of the layout
	layout  string   // an OCI layout with the tag "bench"
	entries int
	bytes   int64 // of all tars
	stored  int64
}

// makeImages makes the images to compare on, and images of one kind in four
// sizes, or finds them in the cache.
func makeImages(cache string) (images, sizes []image, err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, nil, err
	}
	whole, err := debian(cache)
	if err != nil {
		return nil, nil, err
	}
	parts, err := cut(whole, 3)
	if err != nil {
		return nil, nil, err
	}
	small := make([]string, 4)
	for i := range small {
		if small[i], err = smallFiles(cache, 9000<<i); err != nil {
			return nil, nil, err
		}
	}
	b := builder{cache: cache}
	images = []image{
		b.image("debian, gzip", "gzip", whole), b.image("debian in three layers, gzip", "gzip", parts...),
		b.image("debian, zstd", "zstd", whole), b.image("small files, gzip", "gzip", small[3]), b.image("small files, zstd", "zstd", small[3]),
	}
	for i, file := range small {
		sizes = append(sizes, b.image(fmt.Sprintf("small files %d", i+1), "gzip", file))
	}
	return images, sizes, b.err
}

// debian is the tar of a Debian base system: the lab's, or one that is made.
func debian(cache string) (string, error) {
	guest := filepath.Join(filepath.Dir(cache), "guest", "tree.tar")
	if _, err := os.Stat(guest); err == nil {
		return guest, nil
	}
	file := filepath.Join(cache, "debian.tar")
	return file, once(file, func(tmp string) error {
		return command("mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,iproute2,procps",
			"--format=tar", "stable", tmp)
	})
}

// once makes a file unless it is there.
func once(file string, do func(tmp string) error) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	fmt.Fprintln(os.Stderr, "making", file)
	tmp := file + ".new"
	if err := do(tmp); err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	return os.Rename(tmp, file)
}

// builder makes images and keeps the first fault.
type builder struct {
	cache string
	err   error
}

func (b *builder) image(name, packer string, tars ...string) image {
	img := image{name: name, tars: tars}
	if b.err == nil {
		b.err = b.fill(&img, packer)
	}
	if b.err != nil {
		b.err = fmt.Errorf("%s: %w", name, b.err)
	}
	return img
}

func (b *builder) fill(img *image, packer string) error {
	for _, file := range img.tars {
		packed, err := pack(b.cache, file, packer)
		if err != nil {
			return err
		}
		img.layers = append(img.layers, packed)
		entries, size, err := count(file)
		if err != nil {
			return err
		}
		img.entries, img.bytes = img.entries+entries, img.bytes+size
		info, err := os.Stat(packed)
		if err != nil {
			return err
		}
		img.stored += info.Size()
	}
	return writeLayout(b.cache, img, runtime.GOARCH)
}

// pack compresses as most tools do that make images.
func pack(cache, file, packer string) (string, error) {
	suffix := map[string]string{"gzip": ".gz", "zstd": ".zst"}[packer]
	level := map[string]string{"gzip": "-6", "zstd": "-3"}[packer]
	packed := filepath.Join(cache, filepath.Base(file)+suffix)
	return packed, once(packed, func(tmp string) error {
		return command("sh", "-c", fmt.Sprintf("%s %s -c %s > %s", packer, level, file, tmp))
	})
}

// count reads a tar to its end, which also brings it into memory.
func count(file string) (entries int, size int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	r := tar.NewReader(f)
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
		entries++
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	return entries, info.Size(), nil
}
