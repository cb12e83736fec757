package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// Apply fetches what is not in the cache, puts the files in place, and puts
// mode and owner right.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.Look)
	if err != nil || s.waits(do.Look, p) != "" {
		return err
	}
	if p.writes() {
		if foresee(do.Host.Files, p, s.name()) {
			return nil
		}
		if err := s.bring(ctx, do, &p); err != nil {
			return named(s.paths[0], err)
		}
	}
	for _, f := range p.files {
		if !f.writes() && f.access() {
			if err := host.SetAccess(do.Host.Files, f.path, host.Access{Mode: s.mode}); err != nil {
				return named(f.path, err)
			}
		}
	}
	return nil
}

// foresee says on a shadow that the files are going to be there: a plan fetches
// nothing.
func foresee(f host.Files, p plan, source string) bool {
	u, shadow := f.(host.Unknowable)
	if !shadow {
		return false
	}
	for _, file := range p.files {
		if file.writes() {
			u.MarkUnknown(file.path, file.path+" is not downloaded from "+source+" yet")
		}
	}
	return true
}

// bring fetches the blob, puts the files that differ in place, and keeps what
// it was resolved to.
func (s *step) bring(ctx context.Context, do block.Do, p *plan) error {
	store := rootfs.NewStore(do.OuterHost.Files, do.Cache).Shared(do.Turns)
	blob, err := s.fetch(ctx, do, store, p.known.Blob)
	if err != nil {
		return err
	}
	made := resolution{Blob: blob, Files: map[string]string{}}
	for _, f := range p.files {
		if !f.writes() {
			made.Files[f.path] = f.digest // it stays as it is
		}
	}
	if s.args.Path != nil {
		err = s.placeWhole(ctx, do, store, made)
	} else {
		err = s.placeMembers(ctx, do, store, made)
	}
	if err != nil {
		return err
	}
	for i := range p.files {
		p.files[i].digest = made.Files[p.files[i].path]
		if p.files[i].found, err = thing.LookPath(do.Host.Files, p.files[i].path); err != nil {
			return err
		}
	}
	return s.remember(do, made)
}

// fetch brings the blob into the store and returns its digest. The network is
// asked only when the store does not have it.
func (s *step) fetch(ctx context.Context, do block.Do, store *rootfs.Store, blob string) (string, error) {
	if blob != "" {
		if there, err := store.Has(blob); there || err != nil {
			return blob, err
		}
	}
	if s.holes {
		return "", block.ErrNeedsInput
	}
	d := s.transfer(do, store)
	d.Progress = func(done int64) { do.Progress(block.Progress{What: "download", Name: s.name(), Done: done}) }
	d.Again = func(f rootfs.Failed) { do.Warn(s.again(f)) }
	blob, err := s.download(ctx, d)
	if err == nil {
		return blob, nil
	}
	passes, cancelled := rootfs.Passing(err), ctx.Err()
	if s.secret && cancelled == nil {
		err = errWithheld
	}
	err = fmt.Errorf("download from %s: %w", s.name(), err)
	if passes && cancelled == nil {
		return "", &block.PassingError{Class: block.FaultNetwork, Err: err}
	}
	return "", err
}

var errWithheld = errors.New("the download failed; its URL is sensitive, so the cause is withheld")

// again is what an operator should know of a try that is made again.
func (s *step) again(f rootfs.Failed) block.Warning {
	if s.secret {
		f.Err = errWithheld
	}
	return block.Warning{Summary: "Passing fault", Detail: fmt.Sprintf("download from %s: %s", s.name(), f)}
}

func (s *step) transfer(do block.Do, store *rootfs.Store) rootfs.Download {
	d := rootfs.Download{MaxBytes: s.args.MaxBytes, Store: store, Transport: do.OuterHost.Network.Transport(), Clock: do.OuterHost.Clock}
	if s.args.Authorization != nil {
		d.Authorization = *s.args.Authorization
	}
	return d
}

// Ahead fetches what is going to be put in place. What is not known by a digest
// waits for its turn: it would be fetched twice.
func (s *step) Ahead(ctx context.Context, in block.Do) (func(context.Context) error, error) {
	if s.holes || s.args.Mutable {
		return nil, nil
	}
	blob := ""
	if in.View.Files != nil {
		p, err := s.plan(ctx, in.Look)
		if err != nil || !p.writes() {
			return nil, err
		}
		blob = p.known.Blob
	}
	store := rootfs.NewStore(in.OuterHost.Files, in.Cache).Shared(in.Turns)
	if blob != "" {
		if there, err := store.Has(blob); err != nil || there {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		_, err := s.download(ctx, s.transfer(in, store))
		return err
	}, nil
}

// maxSum bounds a text of checksums: those of a release with many files, and a
// signature around them, fit.
const maxSum = 16 << 10

func (s *step) download(ctx context.Context, d rootfs.Download) (string, error) {
	d.URL = *s.args.URL
	switch {
	case s.args.SHA256 != nil:
		d.SHA256 = *s.args.SHA256
	case s.args.SHA256URL != nil:
		sums := d
		if sums.URL = *s.args.SHA256URL; !sameOrigin(sums.URL, d.URL) {
			sums.Authorization = ""
		}
		text, err := sums.Text(ctx, maxSum)
		if err != nil {
			return "", fmt.Errorf("sha256_url: %w", err)
		}
		sum, err := parseSum(text, path.Base(rootfs.RedactURL(d.URL)))
		if err != nil {
			return "", err
		}
		d.SHA256 = sum[len("sha256:"):]
	}
	return d.Fetch(ctx)
}

// placeWhole copies the blob to the path.
func (s *step) placeWhole(ctx context.Context, do block.Do, store *rootfs.Store, made resolution) error {
	in, err := store.Open(made.Blob)
	if err != nil {
		return err
	}
	made.Files[*s.args.Path], err = s.place(ctx, do.Host.Files, *s.args.Path, in, made.Blob)
	err = errors.Join(err, in.Close())
	if errors.Is(err, errDamaged) {
		err = errors.Join(err, store.Drop(made.Blob))
	}
	return err
}

var errDamaged = errors.New("the cached download is damaged and was thrown away; the next run fetches it again")

// place puts a file in place, durably, and returns its digest, which must be
// want unless that is "".
func (s *step) place(ctx context.Context, f host.Files, name string, in io.Reader, want string) (string, error) {
	if err := host.MakeParents(f, name, 0o755); err != nil {
		return "", named(name, err)
	}
	sum, digest := sha256.New(), ""
	err := host.ReplaceWith(f, name, host.Access{Mode: s.mode}, func(out io.Writer) error {
		n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(bound{ctx, in}, s.args.MaxBytes+1))
		if err == nil && n > s.args.MaxBytes {
			err = fmt.Errorf("it is larger than the %d bytes of max_bytes", s.args.MaxBytes)
		}
		digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
		if err == nil && want != "" && digest != want {
			err = errDamaged
		}
		return err
	})
	return digest, named(name, err)
}

// bound stops reading when the context ends.
type bound struct {
	ctx context.Context
	in  io.Reader
}

func (b bound) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.in.Read(p)
}
