package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/record"
)

// How many runs are kept: those that did something, and those since boot that
// found nothing to do.
const (
	Keep      = 50
	keepQuiet = 20
)

// quietDir is where runs that found nothing to do are kept until the next
// boot.
const quietDir = record.RunDir + "/runs"

// Dir is where the runs of a recipe are kept.
func Dir(recipe string) string { return record.RunsDir(recipe) }

// Save keeps a run and gives it its number, under the installation lock. A
// quiet one did nothing. Old ones go. A run that cannot be kept is an error
// that fails nothing else.
func Save(files host.Files, r *Run, quiet bool) error {
	dir, keep := Dir(r.Recipe), Keep
	if quiet {
		dir, keep = quietDir, keepQuiet
	}
	last, _, err := newest(files)
	if err != nil {
		return err
	}
	r.Number = last + 1
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := makePrivate(files, dir); err != nil {
		return err
	}
	if err := host.Replace(files, path.Join(dir, name(r.Number)), host.Content{Bytes: append(data, '\n'), Mode: 0o600}); err != nil {
		return err
	}
	return errors.Join(host.Remove(files, begunFile), trim(files, dir, keep))
}

// begunFile describes a run that does something, while it lasts.
const begunFile = quietDir + "/begun"

// Begin notes that a run begins to do something, so that one that dies is not
// forgotten. Save forgets the note.
func Begin(files host.Files, r *Run) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := makePrivate(files, quietDir); err != nil {
		return err
	}
	return host.Replace(files, begunFile, host.Content{Bytes: data, Mode: 0o600})
}

// Died is the run that a note of Begin was left of: it ended without a word,
// killed or crashed. nil when there is none. It is asked for under the
// installation lock, which no such run can hold.
func Died(files host.FileView) *Run {
	r, err := read(files, begunFile, 0)
	if err != nil {
		return nil
	}
	r.Result, r.Reason, r.Cause = "died", "Died", "it ended without a word: it was killed, or it crashed"
	return r
}

func name(number int) string { return fmt.Sprintf("%06d.json", number) }

// number is that of a file name, 0 for one that is none of ours.
func number(base string) int {
	stem, ok := strings.CutSuffix(base, ".json")
	if n, err := strconv.Atoi(stem); ok && err == nil && n > 0 && name(n) == base {
		return n
	}
	return 0
}

// makePrivate makes a directory, and those above it that are missing, for root
// alone. One that others can write to is not used.
func makePrivate(files host.Files, dir string) error {
	if err := host.MakeParents(files, path.Join(dir, "x"), 0o700); err != nil {
		return err
	}
	info, err := host.Lstat(files, dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || host.StatOf(info).UID != 0 || info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s is not a directory of root alone; runs are not kept in it", dir)
	}
	return nil
}

// trim removes the oldest runs of a directory.
func trim(files host.Files, dir string, keep int) error {
	all, err := numbers(files, dir)
	if err != nil || len(all) <= keep {
		return err
	}
	slices.Sort(all)
	for _, n := range all[:len(all)-keep] {
		err = errors.Join(err, host.Remove(files, path.Join(dir, name(n))))
	}
	return err
}

func numbers(files host.FileView, dir string) (all []int, err error) {
	names, err := host.Names(files, dir)
	if host.Absent(err) {
		return nil, nil
	}
	for _, base := range names {
		if n := number(base); n > 0 {
			all = append(all, n)
		}
	}
	return all, err
}

// places are the directories that hold runs.
func places(files host.FileView) ([]string, error) {
	dirs := []string{quietDir}
	names, err := host.Names(files, record.Dir)
	if host.Absent(err) {
		return dirs, nil
	}
	slices.Sort(names)
	for _, base := range names {
		dir := path.Join(record.Dir, base, record.RunsName)
		if info, err := host.Lstat(files, dir); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// newest is the greatest number of a run, 0 when there is none, and where it is
// kept.
func newest(files host.FileView) (most int, in string, err error) {
	dirs, err := places(files)
	for _, dir := range dirs {
		all, failed := numbers(files, dir)
		err = errors.Join(err, failed)
		if n := slices.Max(append(all, 0)); n > most {
			most, in = n, dir
		}
	}
	return most, in, err
}

// Last is the newest run, nil when there is none or it cannot be read. It reads
// no other.
func Last(files host.FileView) *Run {
	n, dir, err := newest(files)
	if err != nil || n == 0 {
		return nil
	}
	r, err := read(files, path.Join(dir, name(n)), n)
	if err != nil {
		return nil
	}
	return r
}

// List reads all runs, newest first. Those that cannot be read are left out
// and named in damaged.
func List(files host.FileView) (runs []*Run, damaged []error, err error) {
	dirs, err := places(files)
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range dirs {
		all, err := numbers(files, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range all {
			r, err := read(files, path.Join(dir, name(n)), n)
			if err != nil {
				damaged = append(damaged, err)
				continue
			}
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *Run) int { return cmp.Or(cmp.Compare(b.Number, a.Number), b.Began.Compare(a.Began)) })
	return runs, damaged, nil
}

// maxFile bounds what is read of a run, in bytes.
const maxFile = 16 << 20

func read(files host.FileView, file string, n int) (*Run, error) {
	f, err := files.Open(file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	r := &Run{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("the run in %s cannot be read: %w", file, err)
	}
	r.Number = n
	return r, nil
}

// Find is the run of a number, or the newest for 0.
func Find(files host.FileView, n int) (*Run, error) {
	runs, damaged, err := List(files)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if n == 0 || r.Number == n {
			return r, nil
		}
	}
	if len(runs) == 0 {
		return nil, errors.Join(append([]error{errors.New("no run is kept on this host")}, damaged...)...)
	}
	return nil, fmt.Errorf("there is no run %d: %d to %d are kept, see hostler history", n, runs[len(runs)-1].Number, runs[0].Number)
}
