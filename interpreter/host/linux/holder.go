package linux

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"hostler/interpreter/host"
)

// sidecar is the file that describes who holds the lock exclusively.
func (l locks) sidecar() string { return filepath.Join(l.dir, "lock.holder") }

// describe writes the sidecar, whole or not at all.
func (l locks) describe(h host.Holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	tmp := host.TemporaryName(l.sidecar())
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, l.sidecar())
}

// forget removes the sidecar, which is done while the lock is still held.
func (l locks) forget() error {
	if err := os.Remove(l.sidecar()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// holder reads the sidecar; nil if there is none that can be read.
func (l locks) holder() *host.Holder {
	text, err := os.ReadFile(l.sidecar())
	if err != nil {
		return nil
	}
	var h host.Holder
	if json.Unmarshal(text, &h) != nil || h.PID == 0 {
		return nil
	}
	return &h
}
