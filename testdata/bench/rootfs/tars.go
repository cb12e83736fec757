package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// cut cuts a tar into parts of about the same size; hard links stay with the
// whole, later parts may link to earlier ones.
func cut(file string, parts int) ([]string, error) {
	dir := filepath.Dir(file)
	if filepath.Base(dir) != "bench" {
		dir = filepath.Join(filepath.Dir(dir), "bench")
	}
	var names []string
	for i := range parts {
		names = append(names, filepath.Join(dir, fmt.Sprintf("debian-%d-of-%d.tar", i+1, parts)))
	}
	return names, once(names[parts-1], func(tmp string) error {
		return cutInto(file, append(names[:parts-1:parts-1], tmp))
	})
}

func cutInto(file string, names []string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	r := tar.NewReader(in)
	for i, name := range names {
		until := info.Size() * int64(i+1) / int64(len(names))
		if err := writePart(name, in, r, until); err != nil {
			return err
		}
	}
	return nil
}

// writePart copies entries until the input has been read up to an offset.
func writePart(name string, in io.Seeker, r *tar.Reader, until int64) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for {
		at, err := in.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if at >= until {
			break
		}
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), out.Close())
}

// smallFiles makes a tar of n files of 0 to 16 kB in directories of 40, of
// text that compresses about as well as a distribution's files do.
func smallFiles(cache string, n int) (string, error) {
	file := filepath.Join(cache, fmt.Sprintf("small-%d.tar", n))
	return file, once(file, func(tmp string) error {
		out, err := os.Create(tmp)
		if err != nil {
			return err
		}
		w := tar.NewWriter(out)
		if err := writeSmall(w, n); err != nil {
			return err
		}
		return errors.Join(w.Close(), out.Close())
	})
}

func writeSmall(w *tar.Writer, n int) error {
	r := rand.New(rand.NewPCG(7, 11))
	at := time.Unix(1_600_000_000, 0)
	for i := range n {
		dir := fmt.Sprintf("usr/share/part%d/dir%d", i/4000, i/40)
		if i%40 == 0 {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at}); err != nil {
				return err
			}
		}
		text := content(r)
		h := &tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("%s/file%d.txt", dir, i), Mode: 0o644, Size: int64(len(text)), ModTime: at}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

func content(r *rand.Rand) string {
	var b strings.Builder
	for size := r.IntN(16 << 10); b.Len() < size; {
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "%x ", r.Uint32())
		}
		b.WriteString(words[min(r.IntN(len(words)), r.IntN(len(words)))])
		b.WriteByte(" \n"[r.IntN(8)/7])
	}
	return b.String()
}

var words = strings.Fields(`the of and to a in is that for it as was with be by on not he his but at are this have from or had an they
	which one you were all her she there would their we him been has when who will more no if out so what up said its about than into
	them can only other time new some could these two may first then do any like my now over such our man me even most made after also
	did many off before must well back through years where much your way down should because long each just state those people too mr
	how little good world make very year still see own work such never day against around before include define static const struct
	return void char unsigned int long sizeof while switch default break option value name path file directory system service unit`)
