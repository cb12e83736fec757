package block

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// WholeFile is a regular file that belongs to root and that a step writes as a
// whole, beside what else the step does: a drop-in, a unit file. Errors name
// the path.
type WholeFile struct {
	Path  string
	Bytes []byte
	Mode  uint32 // permission bits as chmod counts them
	// What is how reasons call the file, for example "the drop-in".
	What string
	// Foreign says that the file may be there before us with other bytes.
	Foreign bool
	// Validate, if set, is called with the name of the complete new file
	// before it is put in place; an error leaves the old one.
	Validate func(tmp string) error
}

// Owned is the file as a step owns it.
func (w WholeFile) Owned() thing.Owned {
	want := thing.State{
		Kind: thing.File, Digest: thing.Digest(w.Bytes), Size: int64(len(w.Bytes)), Mode: thing.Mode(host.FileMode(w.Mode)),
	}
	return thing.Owned{Thing: thing.Path(w.Path), Want: &want, Foreign: w.Foreign}
}

// Check says what has to change in the file.
func (w WholeFile) Check(ctx context.Context, v host.View) (Change, error) {
	found, err := w.look(ctx, v.Files)
	if err != nil {
		return Change{}, err
	}
	c := w.change(found)
	if !c.Needed() {
		return c, nil
	}
	if m, err := v.Storage.Mount(ctx, w.Path); err == nil && m.ReadOnly {
		return Change{}, fmt.Errorf("%s: %w (mounted at %s); choose a path on a writable one", w.Path, syscall.EROFS, m.Point)
	}
	if found.Kind == thing.File && c.Bytes {
		if c.Diffs[0].Old, err = thing.ReadAll(v.Files, w.Path); err != nil {
			return Change{}, fmt.Errorf("%s: %w", w.Path, err)
		}
	}
	return c, nil
}

func (w WholeFile) look(ctx context.Context, f host.FileView) (thing.State, error) {
	err := ctx.Err()
	var found thing.State
	if err == nil {
		found, err = thing.LookPath(f, w.Path)
	}
	if err == nil && (found.Kind == thing.Directory || found.Kind == thing.Other) {
		err = fmt.Errorf("a %s is there, where the recipe wants a file; remove it first", found.Kind)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", w.Path, err)
	}
	return found, nil
}

func (w WholeFile) change(found thing.State) Change {
	mode := thing.Mode(host.FileMode(w.Mode))
	diff := Diff{Thing: string(thing.Path(w.Path).Key()), Secret: w.Mode&0o004 == 0 || found.Kind == thing.File && hidden(found.Mode)}
	c := Change{Action: ActionUpdate, Bytes: true}
	var reasons []string
	switch {
	case found.Kind == thing.Absent:
		c.Action, reasons = ActionCreate, []string{w.What + " is not there"}
	case found.Kind == thing.Link:
		c.Action, reasons = ActionReplace, []string{"a link is in the place of " + w.What}
		diff.Note = "a link to " + found.Target + " -> a file"
	case found.Digest != thing.Digest(w.Bytes):
		reasons = []string{w.What + " differs"}
	default:
		c.Bytes = false
	}
	if c.Bytes {
		diff.New = append([]byte{}, w.Bytes...)
	}
	if found.Kind != thing.File {
		diff.NewMode, diff.NewOwner = mode, "0:0"
	} else if found.Mode != mode {
		diff.OldMode, diff.NewMode = found.Mode, mode
		reasons = append(reasons, "the mode of "+w.What+" differs")
	}
	if found.Kind == thing.File && (found.UID != 0 || found.GID != 0) {
		diff.OldOwner, diff.NewOwner = fmt.Sprintf("%d:%d", found.UID, found.GID), "0:0"
		reasons = append(reasons, "the owner of "+w.What+" differs")
	}
	if len(reasons) == 0 {
		return NoChange()
	}
	c.Reason, c.Diffs = strings.Join(reasons, ", "), []Diff{diff}
	return c
}

// hidden says whether not everyone on the host may read a file of that mode.
func hidden(mode string) bool { return len(mode) == 4 && (mode[3]-'0')&4 == 0 }

// Apply writes the file, or puts its mode and owner right; it changes nothing
// when all is right.
func (w WholeFile) Apply(ctx context.Context, f host.Files) error {
	found, err := w.look(ctx, f)
	if err != nil {
		return err
	}
	switch c := w.change(found); {
	case !c.Needed():
		return nil
	case !c.Bytes:
		err = setAccess(f, w.Path, host.Access{Mode: w.Mode})
	default:
		if err = host.MakeParents(f, w.Path, 0o755); err == nil {
			err = host.Replace(f, w.Path, host.Content{Bytes: w.Bytes, Mode: w.Mode, Check: w.Validate})
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	return nil
}

// setAccess puts mode and owner right, durably.
func setAccess(f host.Files, name string, a host.Access) error {
	if err := host.SetAccess(f, name, a); err != nil {
		return err
	}
	file, err := f.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Reset removes the file, or puts back what was there.
func (w WholeFile) Reset(ctx context.Context, do Do, o thing.Origin) error {
	err := ctx.Err()
	if err == nil {
		err = thing.Path(w.Path).PutBack(ctx, do.Host, o, do.Keep)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	return nil
}

// Together is one change made of the changes of a step's parts. The first that
// is needed gives the action; reasons follow each other, and an unknown part
// makes the whole unknown only when nothing else is needed.
func Together(parts ...Change) Change {
	all := Change{Action: ActionNone}
	var reasons []string
	unknown := ""
	for _, c := range parts {
		all.Deferred = append(all.Deferred, c.Deferred...)
		all.Pending = append(all.Pending, c.Pending...)
		if c.Action == ActionUnknown && unknown == "" {
			unknown = c.Reason
		}
		if !c.Needed() || c.Action == ActionUnknown {
			continue
		}
		if !all.Needed() {
			all.Action = c.Action
		}
		reasons = append(reasons, c.Reason)
		all.Diffs = append(all.Diffs, c.Diffs...)
		all.Bytes = all.Bytes || c.Bytes
	}
	if !all.Needed() && unknown != "" {
		all.Action, reasons = ActionUnknown, []string{unknown}
	}
	all.Reason = strings.Join(reasons, ", ")
	return all
}
