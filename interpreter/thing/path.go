package thing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"hostler/interpreter/host"
)

// Path is a file or link at an absolute, clean path.
type Path string

// Key is "path:" and the path.
func (p Path) Key() Key { return Key("path:" + string(p)) }

// Look describes what is at the path, without following a final link.
func (p Path) Look(_ context.Context, v host.View) (State, error) {
	return LookPath(v.Files, string(p))
}

// PutBack removes what we made, or puts the original back.
func (p Path) PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error {
	switch o.Kind {
	case OriginAdopted, "":
		return nil
	case OriginAbsent:
		return host.Remove(h.Files, string(p))
	case OriginSaved:
		return k.Restore(ctx, h, o.Backup, string(p))
	}
	return fmt.Errorf("%s: origin %q is not known to this version", p, o.Kind)
}

// LookPath describes what is at a path, without following a final link. A file
// is read whole, in pieces, for its digest.
func LookPath(f host.FileView, name string) (State, error) {
	info, err := host.Lstat(f, name)
	if host.Absent(err) {
		return State{Kind: Absent}, nil
	}
	if err != nil {
		return State{}, err
	}
	st := host.StatOf(info)
	s := State{UID: st.UID, GID: st.GID}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		s.Kind, s.Mode = File, Mode(mode)
		s.Digest, s.Size, err = digestOf(f, name, info.Size())
	case mode&fs.ModeSymlink != 0:
		s.Kind = Link
		s.Target, err = f.ReadlinkIfPossible(name)
	case mode.IsDir():
		s.Kind, s.Mode = Directory, Mode(mode)
	default:
		s.Kind, s.Mode = Other, Mode(mode)
	}
	return s, err
}

// Mode is m as four octal digits.
func Mode(m fs.FileMode) string { return fmt.Sprintf("%04o", host.ModeBits(m)) }

// Digest is "sha256:HEX" of b.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// digestPiece is how much of a file is read at once, in bytes.
const digestPiece = 64 << 10

// digestOf digests a file that is about that large.
func digestOf(f host.FileView, name string, about int64) (digest string, size int64, err error) {
	file, err := f.Open(name)
	if err != nil {
		return "", 0, err
	}
	sum := sha256.New()
	piece := make([]byte, min(max(about, 0)+1, digestPiece))
	for err == nil {
		var n int
		n, err = file.Read(piece)
		sum.Write(piece[:n])
		size += int64(n)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), size, errors.Join(err, file.Close())
}
