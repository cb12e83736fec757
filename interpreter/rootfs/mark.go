package rootfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"hostler/interpreter/host"
)

// Mark is the completion mark of a tree: what it was unpacked from. It stands
// beside the tree, where nothing in the image can forge it.
type Mark struct {
	Format   int    `json:"format"`
	Digest   string `json:"digest"`
	Image    string `json:"image"`
	Identity string `json:"identity"`
	Platform string `json:"platform"`
}

const markFormat = 1

// StateDir is the directory, beside the trees, that holds marks and trees that
// are not complete.
const StateDir = ".hostler"

func stateDir(dir string) string { return path.Join(path.Dir(dir), StateDir) }

// MarkPath is where the completion mark of the tree dir is.
func MarkPath(dir string) string { return path.Join(stateDir(dir), path.Base(dir)+".json") }

// NewPath is where the tree dir is while it is not complete.
func NewPath(dir string) string { return path.Join(stateDir(dir), path.Base(dir)+".new") }

// ReadMark reads the completion mark of the tree dir. It is false when there
// is no mark, or no tree. A mark that cannot be read is an error: a tree that
// may be whole is never taken for one that is not.
func ReadMark(f host.FileView, dir string) (Mark, bool, error) {
	name := MarkPath(dir)
	file, err := f.Open(name)
	if host.Absent(err) {
		return Mark{}, false, nil
	}
	if err != nil {
		return Mark{}, false, err
	}
	raw, err := readDocument(file)
	if err != nil {
		return Mark{}, false, fmt.Errorf("%s: %w", name, err)
	}
	var m Mark
	if err := json.Unmarshal(raw, &m); err != nil || m.Format < 1 || m.Digest == "" {
		return Mark{}, false, fmt.Errorf("%s is damaged; remove it to have the tree %s built again", name, dir)
	}
	if m.Format > markFormat {
		return Mark{}, false, fmt.Errorf("%s has format %d, which is newer than this version knows", name, m.Format)
	}
	info, err := host.Lstat(f, dir)
	switch {
	case errors.Is(err, host.ErrUnknown): // on a shadow: it would be there
		return m, true, nil
	case host.Absent(err):
		return Mark{}, false, nil
	case err != nil:
		return Mark{}, false, err
	}
	return m, info.IsDir(), nil
}

// Complete says whether the machine's tree is complete and what digest it was
// unpacked from.
func Complete(f host.FileView, machine string) (digest string, ok bool, err error) {
	m, ok, err := ReadMark(f, host.MachineRoot(machine))
	return m.Digest, ok, err
}

// Unmark removes the completion mark of the tree dir, durably.
func Unmark(f host.Files, dir string) error { return host.Remove(f, MarkPath(dir)) }

func writeMark(f host.Files, dir string, image Image) error {
	m := Mark{
		Format: markFormat, Digest: image.Digest, Image: image.Ref,
		Identity: image.Identity, Platform: image.Platform.String(),
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return host.Replace(f, MarkPath(dir), host.Content{Bytes: append(raw, '\n'), Mode: 0o600})
}

// ensureDir makes a directory and durably enters it in its parent.
func ensureDir(f host.Files, dir string, mode fs.FileMode) error {
	err := f.Mkdir(dir, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) && dir != "/" {
		if err := ensureDir(f, path.Dir(dir), 0o755); err != nil {
			return err
		}
		if err = f.Mkdir(dir, mode); errors.Is(err, fs.ErrExist) {
			return nil // another fetch was quicker
		}
	}
	if err != nil {
		return err
	}
	return host.SyncDir(f, path.Dir(dir))
}
