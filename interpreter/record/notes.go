package record

import (
	"encoding/json"
	"fmt"
	"path"

	"hostler/interpreter/host"
)

// SetAside keeps a damaged record under another name, so that nothing is lost
// while the host is reset without it.
func (s *Store) SetAside() error {
	if _, err := host.Lstat(s.host.Files, File); err != nil {
		if host.Absent(err) {
			return nil
		}
		return err
	}
	return host.Rename(s.host.Files, File, File+".damaged")
}

// Tidy removes what killed runs left beside the files that they were writing.
// The caller holds the lock. Where nothing is left nothing is written.
func (s *Store) Tidy() error {
	for _, dir := range []string{Dir, RunDir, DebtDir} {
		names, err := readDir(s.host.Files, dir)
		if err != nil {
			return err
		}
		for _, base := range names {
			if !host.IsTemporary(base) {
				continue
			}
			if err := host.Remove(s.host.Files, path.Join(dir, base)); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteNote leaves a note under /run, which the next boot clears.
func (s *Store) WriteNote(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := s.prepareDebts(); err != nil {
		return err
	}
	return s.replace(path.Join(RunDir, name), append(data, '\n'))
}

// ReadNote reads a note; ok is false when there is none.
func (s *Store) ReadNote(name string, v any) (ok bool, err error) {
	data, err := readPrivate(s.host.Files, path.Join(RunDir, name))
	if host.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("%s: %w", path.Join(RunDir, name), err)
	}
	return true, nil
}
