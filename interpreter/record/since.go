package record

import (
	"time"

	"hostler/interpreter/host"
)

// StoredAt is when a state was stored. What its installation wrote is younger.
func (s *Store) StoredAt(name string) (time.Time, error) {
	info, err := host.Lstat(s.host.Files, stateFile(name))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
