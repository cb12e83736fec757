package walk

import (
	"context"
	"fmt"
	"path"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// needsParents says whether the directories above a thing must be there.
func needsParents(want record.Wanted) bool {
	return want.Owned.Want == nil || want.Owned.Want.Kind != thing.Absent
}

// missingParents adds the directories that must be made for a path.
func missingParents(h host.Host, want record.Wanted, missing *dirList) error {
	if !needsParents(want) {
		return nil
	}
	for _, dir := range record.ParentsOf(want.Owned.Key()) {
		key := thing.Key("dir:" + dir).On(want.Placed.Machine)
		if missing.seen[key] {
			continue
		}
		missing.seen[key] = true
		_, err := host.Lstat(h.Files, dir)
		switch {
		case host.Absent(err):
			missing.keys = append(missing.keys, key)
		case err != nil && !unknowable(err):
			return err
		}
	}
	return nil
}

// dirList are directories that are missing, outermost first.
type dirList struct {
	keys []thing.Key
	seen map[thing.Key]bool
}

// makeParents makes the parent directories of a step's paths. Where machines
// are kept is made by what makes a machine.
func (w *walker) makeParents(h host.Host, wanted []record.Wanted) error {
	for _, want := range wanted {
		if !needsParents(want) || want.Owned.Key().Kind() != "path" {
			continue
		}
		for _, dir := range record.ParentsOf(want.Owned.Key()) {
			if err := makeDir(h.Files, dir, want.Owned.DirMode); err != nil {
				return err
			}
		}
	}
	return nil
}

func makeDir(f host.Files, dir, mode string) error {
	if _, err := f.Stat(dir); !host.Absent(err) {
		return err
	}
	bits := uint32(0o755)
	if mode != "" {
		if _, err := fmt.Sscanf(mode, "%o", &bits); err != nil {
			return fmt.Errorf("directory_mode %q: %w", mode, err)
		}
	}
	if err := f.Mkdir(dir, host.FileMode(bits)); err != nil {
		return host.Dangling(f, dir, host.Explain(err))
	}
	return host.SyncDir(f, path.Dir(dir))
}

// undoDir removes a directory that the interpreter made, once it is empty; one
// with foreign content or a mount on it stays, with a warning, and so does what
// is no directory any more.
func (w *walker) undoDir(ctx context.Context, key thing.Key) error {
	machine, _ := key.Machine()
	if record.HoldsRecord(key) {
		return nil
	}
	h, err := w.hostNow(ctx, machine)
	if unknowable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := host.Lstat(h.Files, key.Name())
	switch {
	case host.Absent(err), unknowable(err):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		w.left(key, "is no directory any more")
		return nil
	}
	stays, err := host.RemoveDir(ctx, h, key.Name())
	if stays != "" {
		w.left(key, stays)
	}
	return err
}

func (w *walker) left(key thing.Key, why string) {
	if w.Salvage {
		return
	}
	w.emit(Event{Kind: Diagnosed, Address: string(key), Warning: block.Warning{
		Summary: "Directory not removed", Detail: key.Name() + " was made by hostler and " + why + "; it stays",
	}})
}
