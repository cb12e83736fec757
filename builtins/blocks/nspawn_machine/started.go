package nspawnmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// startedDir holds a note for each machine that a run started and that was not
// ready yet. It is on a tmpfs: a reboot starts the machine anew, and not by us.
const startedDir = "/run/hostler/machines"

func startedPath(slot string) string { return startedDir + "/" + slot + ".json" }

// started notes what a machine was built from, as it was when it started. When
// the machine is ready it goes into the record, even if the run that started it
// did not live to see that: it is first written before the start, when the
// invocation of the machine's unit is still to come and only the one before,
// "" if none, is known.
type started struct {
	Invocation string      `json:"invocation,omitempty"`
	Before     string      `json:"before,omitempty"`
	Built      block.Built `json:"built"`
}

// startPhase says how far a start is.
type startPhase bool

const (
	starting startPhase = false
	running  startPhase = true
)

// noteStart notes the start.
func (s *bootStep) noteStart(ctx context.Context, do block.Do, phase startPhase) error {
	u, err := do.Host.Units.Unit(ctx, s.unit())
	if err != nil {
		return err
	}
	note := started{Invocation: u.InvocationID}
	if phase == starting {
		old, err := loadStart(do.Host.Files, s.active)
		if err != nil {
			return err
		}
		note = started{Before: u.InvocationID}
		if old != nil && old.Invocation == "" {
			note.Before = old.Before // a killed run has begun the start already
		}
	}
	mark, _, err := rootfs.ReadMark(do.Host.Files, s.root())
	if err != nil {
		return err
	}
	parts, err := s.slotFiles(do.Host.Files, s.active)
	if err != nil {
		return err
	}
	note.Built = block.Built{Label: s.label, Active: s.active, Image: mark.Image, Digest: mark.Digest, Parts: parts, RebuildOn: s.rebuildOn()}
	raw, err := json.Marshal(note)
	if err != nil {
		return err
	}
	name := startedPath(s.active)
	if err := host.MakeParents(do.Host.Files, name, 0o700); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := host.Replace(do.Host.Files, name, host.Content{Bytes: raw, Mode: 0o600}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readStart reads the note of the start that the machine now lives in, nil if
// that was not ours or is done with.
func (m *machine) readStart(ctx context.Context, v host.View) (*started, error) {
	note, err := loadStart(v.Files, m.active)
	if err != nil || note == nil {
		return nil, err
	}
	u, err := v.Units.Unit(ctx, thing.MachineUnit(m.active))
	if err != nil || !note.is(u.InvocationID) {
		return nil, err
	}
	return note, nil
}

// is says whether the invocation is the one that the note is about.
func (n started) is(invocation string) bool {
	if n.Invocation == "" {
		return invocation != "" && invocation != n.Before
	}
	return invocation == n.Invocation
}

// loadStart is a note whatever start it is about, nil if there is none of ours.
func loadStart(f host.FileView, slot string) (*started, error) {
	name := startedPath(slot)
	if _, err := host.Lstat(f, name); host.Absent(err) {
		return nil, nil
	}
	raw, err := thing.ReadAll(f, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var note started
	if json.Unmarshal(raw, &note) != nil {
		return nil, nil // it was not ours
	}
	return &note, nil
}

// forgetStart removes the note, and its directories when nothing is in them.
func forgetStart(f host.Files, slot string) error {
	for _, name := range []string{startedPath(slot), startedDir, path.Dir(startedDir)} {
		err := host.Remove(f, name)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("machine %s: %w", slot, err)
		}
	}
	return nil
}
