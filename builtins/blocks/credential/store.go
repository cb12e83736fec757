package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// note is what is known of an encrypted credential without decrypting it.
type note struct {
	// Sealed is the digest of the file, Value the keyed hash of the digest of
	// what is in it.
	Sealed string `json:"sealed"`
	Value  string `json:"value"`
}

// plan is what has to be done.
type plan struct {
	path   string // where the credential has to be
	found  thing.State
	sealed bool
	write  bool
	stale  []string // files in other places
}

func (p plan) access() bool {
	return p.found.Kind == thing.File && (p.found.Mode != "0600" || p.found.UID != 0 || p.found.GID != 0)
}

func (s *step) plan(ctx context.Context, in block.Look) (p plan, err error) {
	p.path, p.sealed = s.plain(), s.seals(in.View)
	if p.sealed {
		p.path = s.sealed()
	}
	if err := ctx.Err(); err != nil {
		return p, named(p.path, err)
	}
	if p.found, err = thing.LookPath(in.View.Files, p.path); err != nil {
		return p, named(p.path, err)
	}
	if p.found.Kind == thing.Directory || p.found.Kind == thing.Other {
		return p, fmt.Errorf("%s: a %s is there, where the credential is to be; remove it first", p.path, p.found.Kind)
	}
	same, err := s.same(in, p)
	if err != nil {
		return p, named(p.path, err)
	}
	p.write = !same
	if !s.encrypt {
		return p, nil
	}
	others := []string{s.sealed(), s.note()}
	if p.sealed {
		others = []string{s.plain()}
	}
	for _, other := range others {
		if _, err := host.Lstat(in.View.Files, other); !host.Absent(err) {
			if err != nil {
				return p, named(other, err)
			}
			p.stale = append(p.stale, other)
		}
	}
	return p, nil
}

// same says whether the stored credential is of the value.
func (s *step) same(in block.Look, p plan) (bool, error) {
	switch {
	case p.found.Kind != thing.File:
		return false, nil
	case p.sealed:
		return s.sameSealed(in, p)
	case s.value != nil:
		return p.found.Digest == thing.Digest([]byte(*s.value)), nil
	case s.hole.Keyed == "":
		return p.found.Digest == s.hole.Digest, nil
	case in.Keyed == nil:
		return false, errNoKey
	}
	return in.Keyed(p.found.Digest) == s.hole.Keyed, nil
}

var errNoKey = host.Unknownf("there is no installation key to compare sensitive values with")

func (s *step) sameSealed(in block.Look, p plan) (bool, error) {
	raw, err := thing.ReadAll(in.View.Files, s.note())
	if host.Absent(err) {
		return false, nil
	}
	var n note
	if err != nil || json.Unmarshal(raw, &n) != nil || n.Sealed != p.found.Digest {
		return false, err
	}
	switch {
	case s.hole != nil && s.hole.Keyed != "":
		return n.Value == s.hole.Keyed, nil
	case in.Keyed == nil:
		return false, errNoKey
	case s.hole != nil:
		return n.Value == in.Keyed(s.hole.Digest), nil
	}
	return n.Value == in.Keyed(thing.Digest([]byte(*s.value))), nil
}

// Check says whether the credential has to be stored.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	p, err := s.plan(ctx, in)
	if err != nil {
		return block.OrUnknown("credential "+s.name, err)
	}
	d := block.Diff{Thing: string(thing.Path(p.path).Key()), Secret: true}
	c := block.Change{Action: block.ActionUpdate, Bytes: p.write}
	switch {
	case p.write && p.found.Kind == thing.Absent:
		c.Action, c.Reason, d.NewMode = block.ActionCreate, "it is not there", "0600"
	case p.write:
		c.Reason = "its value differs"
	case p.access():
		c.Reason, d.OldMode, d.NewMode = "mode or owner differs", p.found.Mode, "0600"
	case len(p.stale) > 0:
		c.Reason, d.Note = "it is also at "+p.stale[0], "the other is removed"
	default:
		return block.NoChange(), nil
	}
	if p.write && p.sealed && !in.View.Identity.Live {
		return block.Change{Action: block.ActionNone, Deferred: []string{"credential " + s.name + " is encrypted by the first run on the running host"}}, nil
	}
	if m, err := in.View.Storage.Mount(ctx, p.path); err == nil && m.ReadOnly {
		return block.Change{}, named(p.path, fmt.Errorf("%w (mounted at %s)", syscall.EROFS, m.Point))
	}
	c.Diffs = []block.Diff{d}
	return c, nil
}

// Apply stores the credential in its one place.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	p, err := s.plan(ctx, do.Look)
	if err != nil {
		return err
	}
	switch {
	case p.write && p.sealed && !do.Host.Identity.Live:
		return nil
	case p.write && s.value == nil:
		err = block.ErrNeedsInput
	case p.write && p.sealed:
		err = s.seal(ctx, do)
	case p.write:
		err = put(do.Host.Files, p.path, []byte(*s.value))
	case p.access():
		err = host.SetAccess(do.Host.Files, p.path, host.Access{Mode: 0o600})
	}
	for _, other := range p.stale {
		if err == nil {
			err = named(other, host.Remove(do.Host.Files, other))
		}
	}
	return named(p.path, err)
}

// put writes a private file, in a private directory if that has to be made.
func put(f host.Files, path string, b []byte) error {
	if err := host.MakeParents(f, path, 0o700); err != nil {
		return err
	}
	return host.Replace(f, path, host.Content{Bytes: b, Mode: 0o600})
}

// seal encrypts the value. The hash is written last: a run that is cut short
// before is done again.
func (s *step) seal(ctx context.Context, do block.Do) error {
	if u, shadow := do.Host.Files.(host.Unknowable); shadow {
		u.MarkUnknown(s.sealed(), "credential "+s.name+" is not encrypted yet")
		return nil
	}
	if do.Keyed == nil {
		return errors.New("there is no installation key to note a hash of it with")
	}
	res, err := do.Host.Commands.Run(ctx, host.Command{
		Argv: []string{"systemd-creds", "encrypt", "--name=" + s.name, "-", "-"}, Stdin: strings.NewReader(*s.value), MaxOutput: 4 * maxValue,
	})
	if failed, ok := errors.AsType[*host.ExitError](err); ok {
		err = fmt.Errorf("systemd-creds encrypt ended with exit status %d; its output is withheld. Look at systemd-creds setup, or write encrypt = false", failed.Result.ExitCode)
	}
	if err == nil && len(bytes.TrimSpace(res.Stdout)) == 0 {
		err = errors.New("systemd-creds encrypt gave nothing")
	}
	if err == nil {
		err = put(do.Host.Files, s.sealed(), res.Stdout)
	}
	if err != nil {
		return err
	}
	// Strings always are JSON.
	raw, _ := json.Marshal(note{Sealed: thing.Digest(res.Stdout), Value: do.Keyed(thing.Digest([]byte(*s.value)))})
	return put(do.Host.Files, s.note(), raw)
}
