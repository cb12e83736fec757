package resident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"hostler/interpreter"
	"hostler/interpreter/record"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// MaxProgram bounds a new interpreter, in bytes.
const MaxProgram = 256 << 20

// Fetch downloads a program. The digest is 64 hexadecimal digits, in lower
// case. Tries that fail and are made again are warned of, through what the
// interpreter emits.
func Fetch(ctx context.Context, in *interpreter.Interpreter, url, sha256 string) ([]byte, error) {
	store := rootfs.NewStore(in.Host.Files, record.CacheDir)
	d := rootfs.Download{
		URL: url, SHA256: sha256, MaxBytes: MaxProgram, Store: store,
		Transport: in.Host.Network.Transport(), Clock: in.Host.Clock,
		Again: func(f rootfs.Failed) { warnAgain(in, url, f) },
	}
	digest, err := d.Fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rootfs.RedactURL(url), err)
	}
	file, err := store.Open(digest)
	if err != nil {
		return nil, err
	}
	program, err := io.ReadAll(file)
	return program, errors.Join(err, file.Close(), store.Drop(digest))
}

func warnAgain(in *interpreter.Interpreter, url string, f rootfs.Failed) {
	if in.Emit == nil {
		return
	}
	e := walk.Event{Kind: walk.Diagnosed, Time: in.Host.Clock.Now()}
	e.Warning.Summary, e.Warning.Detail = "Passing fault", fmt.Sprintf("%s: %s", rootfs.RedactURL(url), f)
	in.Emit(e)
}

// Read reads a program from a file, and holds it to a digest unless that is "".
func Read(r io.Reader, sha256 string) ([]byte, error) {
	program, err := io.ReadAll(io.LimitReader(r, MaxProgram+1))
	if err == nil && len(program) > MaxProgram {
		err = fmt.Errorf("it is larger than %d MiB, so it is no interpreter", MaxProgram>>20)
	}
	if got := strings.TrimPrefix(thing.Digest(program), "sha256:"); err == nil && sha256 != "" && got != sha256 {
		err = fmt.Errorf("its sha256 is %s, not %s", got, sha256)
	}
	return program, err
}
