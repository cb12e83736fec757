package thing

import (
	"context"
	"fmt"
	"path"

	"hostler/interpreter/host"
)

// ranDir holds an empty file for each oneshot unit that was started and that
// the manager may forget. It is on a tmpfs, so that a reboot clears it.
const ranDir = "/run/hostler/ran"

// NoteRan notes until the next boot that a oneshot unit has been started with
// success. Where /run does not forget with a boot, nothing is noted.
func NoteRan(ctx context.Context, h host.Host, unit string) error {
	if !volatile(ctx, h.Storage) {
		return nil
	}
	name := ranDir + "/" + unit
	if err := host.MakeParents(h.Files, name, 0o700); err != nil {
		return fmt.Errorf("note that %s has run: %w", unit, err)
	}
	if err := host.Replace(h.Files, name, host.Content{Mode: 0o600}); err != nil {
		return fmt.Errorf("note that %s has run: %w", unit, err)
	}
	return nil
}

// ForgetRan takes the note back, and its directories when nothing is in them.
func ForgetRan(ctx context.Context, h host.Host, unit string) error {
	for _, name := range []string{ranDir + "/" + unit, ranDir, path.Dir(ranDir)} {
		stays, err := host.RemoveDir(ctx, h, name)
		if stays != "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("forget that %s has run: %w", unit, err)
		}
	}
	return nil
}

// NotedRan says whether the unit is noted to have run since boot.
func NotedRan(ctx context.Context, v host.View, unit string) (bool, error) {
	if !volatile(ctx, v.Storage) {
		return false, nil
	}
	_, err := host.Lstat(v.Files, ranDir+"/"+unit)
	if host.Absent(err) {
		return false, nil
	}
	return err == nil, err
}

func volatile(ctx context.Context, s host.StorageView) bool {
	m, err := s.Mount(ctx, ranDir)
	return err == nil && (m.Type == "tmpfs" || m.Type == "ramfs")
}
