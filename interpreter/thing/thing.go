// Package thing names the objects of a host that a recipe can own, and knows
// how to look at each and how to put it back.
//
// A [Thing] is a file at a path, the enablement of a unit, the state of a unit,
// a machine, … . It is the unit of ownership: two steps never own the same one,
// the record is keyed by them, the clean-host test and the proof after a reset
// look at them, and teardown puts each back to its [Origin].
package thing

import (
	"context"
	"strings"

	"hostler/interpreter/host"
)

// Key names a thing on a host, for example "path:/etc/x",
// "unit-enabled:a.service", "unit-active:a.service", "machine:kube1" or
// "dir:/etc/x.d"; inside a machine it is prefixed, "machine:kube1/path:/etc/x".
type Key string

// On returns the key of the same thing inside the machine.
func (k Key) On(machine string) Key {
	if machine == "" {
		return k
	}
	return Key("machine:" + machine + "/" + string(k))
}

// Machine splits off the machine a key is inside of, "" for the host.
func (k Key) Machine() (machine string, inner Key) {
	if rest, ok := strings.CutPrefix(string(k), "machine:"); ok {
		if name, inside, ok := strings.Cut(rest, "/"); ok {
			return name, Key(inside)
		}
	}
	return "", k
}

// Kind is the part before the first colon of the inner key: "path", "dir",
// "unit-enabled", …
func (k Key) Kind() string {
	_, inner := k.Machine()
	kind, _, _ := strings.Cut(string(inner), ":")
	return kind
}

// Name is the part after the kind: the path or the unit's name.
func (k Key) Name() string {
	_, inner := k.Machine()
	_, name, _ := strings.Cut(string(inner), ":")
	return name
}

// Thing is an object of a host that can be owned.
type Thing interface {
	// Key names it, without the machine.
	Key() Key
	// Look says what is there now. What cannot be known on this view is an
	// error that wraps host.ErrUnknown.
	Look(ctx context.Context, v host.View) (State, error)
	// PutBack brings it back to what it was before we touched it. It is
	// idempotent and strict: an error means that it is not back.
	PutBack(ctx context.Context, h host.Host, o Origin, k Keeper) error
}

// State is what was found when looking at a thing: plain, comparable data.
type State struct {
	// Kind is "absent", "file", "link", "directory" or "other" (device,
	// socket, …) for paths, and "present" for everything else that is there.
	Kind string `json:"kind"`
	// Digest is "sha256:HEX" of a file's bytes and Size their number.
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size,omitempty"`
	// Mode is four octal digits, for files and directories.
	Mode string `json:"mode,omitempty"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
	// Target is a link's target.
	Target string `json:"target,omitempty"`
	// Value describes other kinds of things, for example "enabled" or the
	// value of a kernel parameter.
	Value string `json:"value,omitempty"`
	// Links are the enablement links of a unit: path to target.
	Links map[string]string `json:"links,omitempty"`
}

// The kinds of a State.
const (
	Absent    = "absent"
	File      = "file"
	Link      = "link"
	Directory = "directory"
	Other     = "other"
	Present   = "present"
)

// SameContent says whether two states are the same but for mode and owner.
func (s State) SameContent(o State) bool {
	if len(s.Links) != len(o.Links) {
		return false
	}
	for path, target := range s.Links {
		if got, ok := o.Links[path]; !ok || got != target {
			return false
		}
	}
	return s.Kind == o.Kind && s.Digest == o.Digest && s.Target == o.Target && s.Value == o.Value
}

// AnyID as the UID or GID of a wanted state says that it is that of a name
// which only the host can resolve.
const AnyID = -1

// Same says whether two states are the same in everything.
func (s State) Same(o State) bool {
	return s.SameContent(o) && s.Mode == o.Mode && sameID(s.UID, o.UID) && sameID(s.GID, o.GID)
}

func sameID(a, b int) bool { return a == b || a == AnyID || b == AnyID }

// Origin is what a thing was before we touched it for the first time.
type Origin struct {
	// Kind is OriginAbsent, OriginSaved or OriginAdopted; "" while it has not
	// been captured, which means that the thing has not been touched.
	Kind string `json:"kind,omitempty"`
	// State is what was found, for OriginSaved.
	State *State `json:"state,omitempty"`
	// Backup names what the Keeper holds of it, for saved files and trees.
	Backup string `json:"backup,omitempty"`
}

// The kinds of an Origin.
const (
	OriginAbsent  = "absent"
	OriginSaved   = "saved"
	OriginAdopted = "adopted"
)

// Keeper holds the originals of files and trees.
type Keeper interface {
	// Keep stores what is at path durably and returns its name. State is what
	// Look found there. It does not change path.
	Keep(ctx context.Context, h host.Host, key Key, path string, s State) (backup string, err error)
	// Restore puts the original back at path, replacing what file or link is
	// there, with mode, owner and modification time.
	Restore(ctx context.Context, h host.Host, backup, path string) error
}

// Owned is a thing that a step owns and what it wants it to be.
type Owned struct {
	Thing
	// Want is the state the step brings the thing to; nil when only applying
	// can tell (a mutable download, a merge).
	Want *State
	// Sensitive is true when Want.Digest is of sensitive bytes and must be
	// stored as a keyed hash only.
	Sensitive bool
	// Foreign allows the thing to exist before us with other content: the
	// step says replaces_foreign, merges into it, or only manages its state.
	Foreign bool
	// Delivered says that the thing may be there before us and is ours all the
	// same: it is what a first boot was delivered with. A reset removes it.
	Delivered bool
	// DirMode is the mode of parent directories that have to be made for a
	// path, four octal digits; "" is "0755".
	DirMode string
}

// MarshalText keeps keys usable as JSON object keys.
func (k Key) MarshalText() ([]byte, error) { return []byte(k), nil }
