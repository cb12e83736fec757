package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// The places of an installation's memory on a host.
const (
	Dir        = "/var/lib/hostler"
	File       = Dir + "/record.json"
	KeyFile    = Dir + "/key"
	StateDir   = Dir + "/state"
	BackupDir  = Dir + "/backup"
	CacheDir   = Dir + "/cache"
	RunDir     = "/run/hostler"
	DebtDir    = RunDir + "/debts"
	ReloadDebt = DebtDir + "/reload"
)

// RunsName is the directory of a recipe's runs, in the one that RunsDir names.
const RunsName = "runs"

// RunsDir is where the history of a recipe's runs is kept. The names that the
// installation's memory has itself stand apart from those of recipes.
func RunsDir(recipe string) string {
	switch path.Join(Dir, recipe) {
	case StateDir, BackupDir, CacheDir, KeyFile, Dir:
		recipe = "recipe-" + recipe
	}
	return path.Join(Dir, recipe, RunsName)
}

// ErrAbsent means that there is no record: nothing is installed.
var ErrAbsent = errors.New("nothing is installed on this host")

// ErrNotGiven means that a command needs a recipe: none is installed, and none
// was given.
var ErrNotGiven = fmt.Errorf("%w and no recipe was given; name a recipe", ErrAbsent)

// Store reads and writes the record and what belongs to it.
type Store struct {
	host host.Host
	rand io.Reader
}

// NewStore returns the store of a host. Ids and keys come from rand.
func NewStore(h host.Host, rand io.Reader) *Store { return &Store{host: h, rand: rand} }

// Load reads the record, as Head, with its claims.
func (s *Store) Load(ctx context.Context) (*Record, error) {
	r, err := s.Head(ctx)
	if err == nil {
		err = r.ReadClaims()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Head reads the record but for its claims, which Record.ReadClaims reads when
// they are needed: a healthy host never needs them. The error is ErrAbsent when there is none, an
// *UnreadableError when it is damaged, a *block.NewerError when a newer
// release wrote it, and any other when the host cannot be read.
func (s *Store) Head(context.Context) (*Record, error) {
	data, err := readPrivate(s.host.Files, File)
	switch {
	case host.Absent(err):
		return nil, ErrAbsent
	case errors.Is(err, errNotFile):
		return nil, &UnreadableError{File, err}
	case err != nil:
		return nil, fmt.Errorf("read the ownership record: %w", err)
	}
	return decode(File, data)
}

// Save writes the record durably. Nothing is written when the bytes on the
// host are the same already.
func (s *Store) Save(ctx context.Context, r *Record) error {
	r.SchemaVersion = Schema
	data, err := r.encode()
	if err != nil {
		return err
	}
	if old, err := readPrivate(s.host.Files, File); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return s.Commit(ctx, r)
}

// Commit writes the record durably, a new file even when the bytes are the
// same: what was repaired is committed again.
func (s *Store) Commit(_ context.Context, r *Record) error {
	r.SchemaVersion = Schema
	data, err := r.encode()
	if err != nil {
		return err
	}
	if err := s.prepare(Dir); err != nil {
		return err
	}
	return s.replace(File, data)
}

// Remove removes the record durably. When the removal cannot be made durable
// and r is not nil, r is put back and the error returned.
func (s *Store) Remove(ctx context.Context, r *Record) error {
	err := host.Remove(s.host.Files, File)
	if err == nil || r == nil {
		return err
	}
	err = fmt.Errorf("the removal of the ownership record is not durable: %w", err)
	if back := s.Save(ctx, r); back != nil {
		return errors.Join(err, fmt.Errorf("it could not be put back: %w", back))
	}
	return err
}

// Erase removes all that the installation remembers, the record last, and the
// directories that were made for it if they are empty.
func (s *Store) Erase(ctx context.Context, r *Record) error {
	for _, name := range []string{StateDir, BackupDir, CacheDir, DebtDir, KeyFile, host.TemporaryName(KeyFile), File + ".damaged"} {
		if _, err := host.Lstat(s.host.Files, name); host.Absent(err) {
			continue // on a read-only file system, removing nothing may fail
		}
		if err := s.host.Files.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := s.eraseRuns(ctx); err != nil {
		return err
	}
	if err := s.Remove(ctx, r); err != nil {
		return err
	}
	if err := host.Remove(s.host.Files, host.TemporaryName(File)); err != nil {
		return err
	}
	return s.eraseDirs(ctx, r)
}

// eraseRuns removes the history of runs, and the directories it was in: also
// one that an attempt which was killed has emptied.
func (s *Store) eraseRuns(ctx context.Context) error {
	names, err := readDir(s.host.Files, Dir)
	for _, base := range names {
		dir := path.Join(Dir, base)
		if info, lost := host.Lstat(s.host.Files, dir); lost != nil || !info.IsDir() {
			continue
		}
		if _, absent := host.Lstat(s.host.Files, path.Join(dir, RunsName)); absent == nil {
			err = errors.Join(err, s.host.Files.RemoveAll(path.Join(dir, RunsName)))
		}
		_, gone := host.RemoveDir(ctx, s.host, dir)
		err = errors.Join(err, gone)
	}
	return err
}

func (s *Store) eraseDirs(ctx context.Context, r *Record) error {
	claimed := r.Index()
	for dir := Dir; dir != "/"; dir = parent(dir) {
		if dir != Dir && claimed[thing.Key("dir:"+dir)] == nil {
			continue
		}
		if stays, err := host.RemoveDir(ctx, s.host, dir); err != nil || stays != "" {
			return err
		}
	}
	return nil
}

// replace writes one of the installation's private files.
func (s *Store) replace(name string, data []byte) error {
	return host.Replace(s.host.Files, name, host.Content{Bytes: data, Mode: 0o600})
}

// prepare makes a private directory below Dir, and Dir itself, and refuses
// ones that others could write to.
func (s *Store) prepare(dir string) error {
	for _, d := range []string{"/var", "/var/lib"} {
		if err := s.mkdir(d, 0o755, false); err != nil {
			return err
		}
	}
	if err := s.mkdir(Dir, 0o700, true); err != nil || dir == Dir {
		return err
	}
	return s.mkdir(dir, 0o700, true)
}

func (s *Store) mkdir(dir string, mode fs.FileMode, private bool) error {
	info, err := host.Lstat(s.host.Files, dir)
	if err == nil {
		if private {
			return checkPrivate(dir, info)
		}
		return nil
	}
	if !host.Absent(err) {
		return err
	}
	if err := s.host.Files.Mkdir(dir, mode); err != nil {
		return err
	}
	return host.SyncDir(s.host.Files, parent(dir))
}

func parent(dir string) string {
	for i := len(dir) - 1; i > 0; i-- {
		if dir[i] == '/' {
			return dir[:i]
		}
	}
	return "/"
}

// checkPrivate refuses a directory that is a link, and what others could write
// to.
func checkPrivate(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return &RefusedError{dir + " is not a directory; hostler keeps its state there", "remove what is there"}
	}
	return checkOwner(dir, info, "0700")
}

// checkOwner refuses what is not root's or can be written by others. mode is
// the one it should have.
func checkOwner(name string, info fs.FileInfo, mode string) error {
	switch {
	case host.StatOf(info).UID != 0:
		return &RefusedError{fmt.Sprintf("%s belongs to user %d, not to root; hostler does not trust what others can write", name, host.StatOf(info).UID), "chown it to root"}
	case info.Mode().Perm()&0o022 != 0:
		return &RefusedError{fmt.Sprintf("%s can be written by others (mode %04o); hostler does not trust it", name, info.Mode().Perm()), "chmod it to " + mode}
	}
	return nil
}

// CheckPrivate verifies the state directory, the record and the key before
// anything in them is trusted; the error is a *RefusedError. What is absent is
// fine.
func (s *Store) CheckPrivate() error {
	for _, dir := range []string{Dir, StateDir, BackupDir} {
		if err := s.check(dir, checkPrivate); err != nil {
			return err
		}
	}
	for _, name := range []string{File, KeyFile} {
		if err := s.check(name, checkPrivateFile); err != nil {
			return err
		}
	}
	return nil
}

// checkPrivateFile is checkOwner for a file; anything else is damage, which
// reading it tells.
func checkPrivateFile(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return nil
	}
	return checkOwner(name, info, "0600")
}

func (s *Store) check(name string, private func(string, fs.FileInfo) error) error {
	info, err := host.Lstat(s.host.Files, name)
	if host.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return private(name, info)
}

var errNotFile = errors.New("it is not a regular file")

// readPrivate reads a file without following a final link.
func readPrivate(f host.FileView, name string) ([]byte, error) {
	info, err := host.Lstat(f, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotFile
	}
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}

// readDir lists the names in a directory; an absent one is empty.
func readDir(f host.FileView, dir string) ([]string, error) {
	d, err := f.Open(dir)
	if host.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}
