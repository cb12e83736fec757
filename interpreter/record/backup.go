package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// Sidecar describes a backup, so that it can be put back without the record.
type Sidecar struct {
	Thing thing.Key   `json:"thing"`
	Path  string      `json:"path"`
	State thing.State `json:"state"`
	// ModTime is the original's modification time in nanoseconds since the
	// epoch.
	ModTime int64             `json:"mod_time,omitempty"`
	Xattrs  map[string][]byte `json:"xattrs,omitempty"`
}

// Backups is the thing.Keeper of an installation: originals below BackupDir,
// each with a sidecar that names the thing.
type Backups struct{ store *Store }

// Backups returns the keeper of originals.
func (s *Store) Backups() Backups { return Backups{s} }

// Keep stores the original of a file, link or tree. It is asked only while no
// origin is recorded, so a backup that is there already comes from an attempt
// that did not live to record it, or from a claim that was forgotten: it is
// used if it is the same.
func (b Backups) Keep(ctx context.Context, h host.Host, key thing.Key, name string, st thing.State) (string, error) {
	backup := backupName(key)
	if b.holds(backup, key, name, st) {
		return backup, nil
	}
	if err := b.store.prepare(BackupDir); err != nil {
		return "", err
	}
	if err := host.Remove(b.store.host.Files, sidecarFile(backup)); err != nil {
		return "", err
	}
	info, err := host.Lstat(h.Files, name)
	if err != nil {
		return "", err
	}
	side := Sidecar{Thing: key, Path: name, State: st, ModTime: info.ModTime().UnixNano()}
	if side.Xattrs, err = readXattrs(h.Files, name); err != nil {
		return "", err
	}
	if err := b.copyIn(ctx, h.Files, name, backup, st); err != nil {
		return "", fmt.Errorf("keep the original of %s: %w", name, err)
	}
	data, err := json.Marshal(side)
	if err != nil {
		return "", err
	}
	return backup, b.store.replace(sidecarFile(backup), append(data, '\n'))
}

// holds says whether a backup is whole and of this state. Of a tree only the
// top is known, so it never is.
func (b Backups) holds(backup string, key thing.Key, name string, st thing.State) bool {
	side, err := b.sidecar(backup)
	if err != nil || side.Thing != key || side.Path != name || !side.State.Same(st) || st.Kind != thing.File && st.Kind != thing.Link {
		return false
	}
	_, err = b.original(backup, side)
	return err == nil
}

// original is what was saved of a file, whole; for a link or tree it is nil, and
// of a tree it is known to be there.
func (b Backups) original(backup string, side Sidecar) ([]byte, error) {
	switch side.State.Kind {
	case thing.File:
		data, err := readPrivate(b.store.host.Files, dataFile(backup))
		if err == nil && thing.Digest(data) != side.State.Digest {
			err = errNotSaved
		}
		return data, err
	case thing.Directory:
		_, err := host.Lstat(b.store.host.Files, dataFile(backup))
		return nil, err
	}
	return nil, nil
}

func (b Backups) copyIn(ctx context.Context, from host.Files, name, backup string, st thing.State) error {
	own := b.store.host.Files
	switch st.Kind {
	case thing.File:
		data, err := readPrivate(from, name)
		if err != nil {
			return err
		}
		return b.store.replace(dataFile(backup), data)
	case thing.Directory:
		if err := own.RemoveAll(dataFile(backup)); err != nil {
			return err
		}
		if err := copyTree(ctx, own, dataFile(backup), from, name); err != nil {
			return err
		}
		return own.SyncTree(dataFile(backup))
	case thing.Link:
		return nil
	}
	return fmt.Errorf("it is neither a file, a link nor a directory")
}

// LostError says that the original of a thing cannot be put back because its
// backup is gone or is not what was saved.
type LostError struct {
	// Path is where the original was, Backup where it was kept.
	Path, Backup string
	Cause        error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the original of %s was kept as %s and is lost: %v; bring that file back and run hostler reset again, "+
		"or run hostler reset --force, which leaves %s as it is now", e.Path, e.Backup, e.Cause, e.Path)
}

func (e *LostError) Unwrap() error { return e.Cause }

// Restore puts an original back, with mode, owner, extended attributes and
// modification time. The error is a *LostError when it is not there any more.
func (b Backups) Restore(ctx context.Context, h host.Host, backup, name string) error {
	side, err := b.sidecar(backup)
	if err != nil {
		return lost(name, sidecarFile(backup), err)
	}
	data, err := b.original(backup, side)
	if err != nil {
		return lost(name, dataFile(backup), err)
	}
	if err := b.copyOut(ctx, h.Files, name, kept{backup, side, data}); err != nil {
		return fmt.Errorf("put back the original of %s: %w", name, err)
	}
	if side.State.Kind != thing.Link {
		return nil
	}
	if err := dress(h.Files, name, side); err != nil {
		return err
	}
	return host.SyncDir(h.Files, path.Dir(name))
}

// lost tells a backup that is gone or damaged from one that cannot be read now.
func lost(name, file string, err error) error {
	var syntax *json.SyntaxError
	if host.Absent(err) || errors.Is(err, errNotFile) || errors.Is(err, errNotSaved) || errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &LostError{name, file, err}
	}
	return fmt.Errorf("the original of %s: %w", name, err)
}

var errNotSaved = errors.New("the backup is not what was saved")

// kept is a backup that is put back.
type kept struct {
	backup string
	side   Sidecar
	data   []byte // of a file
}

func (b Backups) copyOut(ctx context.Context, to host.Files, name string, k kept) error {
	side := k.side
	switch side.State.Kind {
	case thing.File:
		mode, err := parseMode(side.State.Mode)
		if err != nil {
			return err
		}
		return host.Replace(to, name, host.Content{Bytes: k.data, Mode: mode, UID: side.State.UID, GID: side.State.GID, Check: dressed(to, side)})
	case thing.Link:
		if err := host.Symlink(to, side.State.Target, name); err != nil {
			return err
		}
		return to.Lchown(name, side.State.UID, side.State.GID)
	case thing.Directory:
		return b.treeOut(ctx, to, name, k.backup)
	}
	return fmt.Errorf("a backup of kind %q is not known to this version", side.State.Kind)
}

// treeOut puts a tree back beside its place and renames it, so that a crash
// leaves no half of it there.
func (b Backups) treeOut(ctx context.Context, to host.Files, name, backup string) error {
	tmp := path.Join(path.Dir(name), "."+path.Base(name)+".hostler-restore")
	if err := to.RemoveAll(tmp); err != nil {
		return err
	}
	if err := copyTree(ctx, to, tmp, b.store.host.Files, dataFile(backup)); err != nil {
		return err
	}
	if err := to.SyncTree(tmp); err != nil {
		return err
	}
	if err := host.Remove(to, name); err != nil {
		// A tree that was put back already by an earlier, killed reset.
		if err := to.RemoveAll(name); err != nil {
			return err
		}
	}
	return host.Rename(to, tmp, name)
}

func (b Backups) sidecar(backup string) (Sidecar, error) {
	var side Sidecar
	data, err := readPrivate(b.store.host.Files, sidecarFile(backup))
	if err == nil {
		err = json.Unmarshal(data, &side)
	}
	return side, err
}

// Sidecars lists all backups by name, for a reset without a usable record.
func (b Backups) Sidecars() (map[string]Sidecar, error) {
	names, err := readDir(b.store.host.Files, BackupDir)
	if err != nil {
		return nil, err
	}
	found := map[string]Sidecar{}
	for _, base := range names {
		backup, ok := strings.CutSuffix(base, ".json")
		if !ok {
			continue
		}
		side, err := b.sidecar(backup)
		if err != nil {
			return nil, fmt.Errorf("backup %s is damaged: %w; remove that file to go on without it", path.Join(BackupDir, base), err)
		}
		found[backup] = side
	}
	return found, nil
}

func backupName(key thing.Key) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func sidecarFile(backup string) string { return path.Join(BackupDir, backup+".json") }

func dataFile(backup string) string { return path.Join(BackupDir, backup+".data") }

func backupFiles(backup string) []string { return []string{sidecarFile(backup), dataFile(backup)} }

func parseMode(mode string) (uint32, error) {
	var bits uint32
	if _, err := fmt.Sscanf(mode, "%o", &bits); err != nil {
		return 0, fmt.Errorf("mode %q of the backup: %w", mode, err)
	}
	return bits, nil
}
