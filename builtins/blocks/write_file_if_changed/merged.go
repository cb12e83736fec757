package writefileifchanged

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// merged is the keys that a step sets in a file of others. It is named by the
// path; its state is the values at the keys.
type merged struct {
	thing.Through
	keys *object
}

// Look reads the values at the keys.
func (m merged) Look(ctx context.Context, v host.View) (thing.State, error) {
	state, err := m.Through.Look(ctx, v)
	if err != nil || state.Kind != thing.File || m.keys == nil {
		return state, err
	}
	_, doc, err := m.read(v.Files)
	if err != nil {
		return thing.State{}, err
	}
	return keysState(m.keys, doc), nil
}

// keysState is the state of the keys in doc; a digest stands for the values
// where contents are compared.
func keysState(keys, doc *object) thing.State {
	value := former(keys, doc)
	return thing.State{Kind: thing.File, Digest: thing.Digest([]byte(value)), Value: value}
}

// Save keeps the whole file.
func (m merged) Save(ctx context.Context, h host.Host, k thing.Keeper, key thing.Key, _ thing.State) (string, error) {
	found, err := m.Through.Look(ctx, h.View())
	if err != nil {
		return "", err
	}
	return m.Through.Save(ctx, h, k, key, found)
}

func (m merged) read(f host.FileView) (raw []byte, doc *object, err error) {
	name, err := m.File(f)
	if err != nil {
		return nil, nil, err
	}
	if raw, err = thing.ReadAll(f, name); err != nil {
		return nil, nil, err
	}
	if doc, err = parseObject(raw); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, doc, nil
}

// PutBack takes our keys out again. A file in which nothing else changed gets
// its original back whole; one that we made and that holds nothing else goes.
func (m merged) PutBack(ctx context.Context, h host.Host, o thing.Origin, k thing.Keeper) error {
	if o.Kind == thing.OriginAdopted || o.Kind == "" {
		return nil
	}
	raw, doc, err := m.read(h.Files)
	if host.Absent(err) {
		return m.Through.PutBack(ctx, h, o, k)
	}
	if err != nil {
		return err
	}
	if m.keys == nil {
		return errors.New("the keys that were set are not stored, so they cannot be taken out again")
	}
	orig, whole, err := m.original(ctx, h, o, k)
	if err != nil {
		return err
	}
	if after, _, err := merge(whole, m.keys); whole != nil && err == nil && (bytes.Equal(after, raw) || bytes.Equal(whole, raw)) {
		return m.Through.PutBack(ctx, h, o, k)
	}
	before := clone(doc)
	if unmerge(doc, m.keys, orig); equal(before, doc) {
		return nil
	}
	if o.Kind == thing.OriginAbsent && len(doc.keys) == 0 {
		return m.Through.PutBack(ctx, h, o, k)
	}
	return m.rewrite(h.Files, render(doc, raw))
}

// original is what the file held before us: whole where the Keeper has it.
func (m merged) original(ctx context.Context, h host.Host, o thing.Origin, k thing.Keeper) (*object, []byte, error) {
	switch {
	case o.Kind == thing.OriginAbsent:
		return newObject(), nil, nil
	case o.Backup != "":
		name, err := m.File(h.Files)
		if err != nil {
			return nil, nil, err
		}
		whole, err := thing.Kept(ctx, h, k, o.Backup, name)
		if err != nil {
			return nil, nil, err
		}
		doc, err := parseObject(whole)
		return doc, whole, err
	case o.State != nil:
		doc, err := originally(o.State.Value)
		return doc, nil, err
	}
	return nil, nil, fmt.Errorf("nothing is recorded of what %s was", m.Path)
}

func (m merged) rewrite(f host.Files, b []byte) error {
	name, err := m.File(f)
	if err != nil {
		return err
	}
	a, err := accessOf(f, name)
	if err != nil {
		return err
	}
	return host.Replace(f, name, host.Content{Bytes: b, Mode: a.Mode, UID: a.UID, GID: a.GID})
}
