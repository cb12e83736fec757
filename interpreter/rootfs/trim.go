package rootfs

import (
	"io/fs"
	"path"
	"slices"

	"hostler/interpreter/host"
)

// Trim removes blobs, the longest unused first, until what is left holds at
// most keep bytes. "Used" is the time of a blob's file.
func (s *Store) Trim(keep int64) error {
	names, err := host.Names(s.files, s.dir)
	if host.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var all []fs.FileInfo
	var total int64
	for _, name := range names {
		info, err := host.Lstat(s.files, path.Join(s.dir, name))
		if err != nil {
			return err
		}
		all = append(all, info)
		total += info.Size()
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		if total <= keep {
			return nil
		}
		if err := host.Remove(s.files, path.Join(s.dir, info.Name())); err != nil {
			return err
		}
		total -= info.Size()
	}
	return nil
}
