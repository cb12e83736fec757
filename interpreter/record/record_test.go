package record_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

func newStore(t *testing.T) (*record.Store, host.Host, *memory.Memory) {
	t.Helper()
	m := memory.New(memory.Options{})
	h := m.Host()
	return record.NewStore(h, rand.Reader), h, m
}

func sample() *record.Record {
	return &record.Record{
		ID: "0123", Recipe: record.Recipe{Name: "worker", Version: "1.0.0"}, Fingerprint: "v1:sha256:aa", Phase: record.Installing,
		Claims: []record.Claim{{Thing: "path:/etc/x", Origin: thing.Origin{Kind: thing.OriginAbsent}, Wrote: []string{"sha256:bb"}}},
	}
}

func put(t *testing.T, h host.Host, name, content string) {
	t.Helper()
	if err := host.MakeParents(h.Files, name, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := host.Replace(h.Files, name, host.Content{Bytes: []byte(content), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestR009RoundTrip: a record loads as it was saved, private and in its final
// form.
func TestR009RoundTrip(t *testing.T) {
	store, h, _ := newStore(t)
	ctx := context.Background()
	if _, err := store.Load(ctx); !errors.Is(err, record.ErrAbsent) {
		t.Fatalf("before: %v", err)
	}
	if err := store.Save(ctx, sample()); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "schema_version": 1,
  "installation_id": "0123",
  "recipe": {
    "name": "worker",
    "version": "1.0.0"
  },
  "fingerprint": "v1:sha256:aa",
  "phase": "installing",
  "claims": [
    {
      "thing": "path:/etc/x",
      "origin": {
        "kind": "absent"
      },
      "wrote": [
        "sha256:bb"
      ]
    }
  ]
}
`
	if got := get(t, h, record.File); got != want {
		t.Errorf("record is\n%s\nwant\n%s", got, want)
	}
	info, err := host.Lstat(h.Files, record.File)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("R016: mode %v, %v", info.Mode(), err)
	}
	dir, err := host.Lstat(h.Files, record.Dir)
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("directory %v, %v", dir.Mode(), err)
	}
	r, err := store.Load(ctx)
	if err != nil || r.Claim("path:/etc/x") == nil || r.ID != "0123" {
		t.Errorf("loaded %+v, %v", r, err)
	}
}

// TestR013PrefixAbsentAtDefault: the prefix is a field only off the default.
func TestR013PrefixAbsentAtDefault(t *testing.T) {
	store, h, _ := newStore(t)
	r := sample()
	for prefix, there := range map[string]bool{"": false, "/opt/hostler": true} {
		r.Prefix = prefix
		if err := store.Save(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(get(t, h, record.File), "prefix"); got != there {
			t.Errorf("prefix %q: in the record %v", prefix, got)
		}
	}
}

// TestR010SameBytesAreNotWritten and R011: completion is committed again only
// on purpose.
func TestR010SameBytesAreNotWritten(t *testing.T) {
	store, h, _ := newStore(t)
	ctx := context.Background()
	inode := func() uint64 {
		info, err := host.Lstat(h.Files, record.File)
		if err != nil {
			t.Fatal(err)
		}
		return host.StatOf(info).Ino
	}
	if err := store.Save(ctx, sample()); err != nil {
		t.Fatal(err)
	}
	first := inode()
	if err := store.Save(ctx, sample()); err != nil || inode() != first {
		t.Errorf("saving the same made a new file (%v)", err)
	}
	if err := store.Commit(ctx, sample()); err != nil || inode() == first {
		t.Errorf("committing did not make a new file (%v)", err)
	}
}

// TestUnreadable: R006, R008, C72, C74.
func TestUnreadable(t *testing.T) {
	type kind int
	const (
		fine kind = iota
		damaged
		newer
	)
	for name, c := range map[string]struct {
		text string
		want kind
	}{
		"empty file":              {"", damaged},
		"cut":                     {`{"schema_version": 1, "rec`, damaged},
		"empty object":            {`{}`, damaged},
		"another program's":       {`{"version": 4, "serial": 12}`, damaged},
		"R008 phase missing":      {`{"schema_version":1,"recipe":{"name":"a"},"fingerprint":"f","claims":[]}`, damaged},
		"R004 unknown phase":      {`{"schema_version":1,"phase":"half","recipe":{"name":"a"},"fingerprint":"f","claims":[]}`, damaged},
		"schema zero":             {`{"schema_version":0,"phase":"complete","recipe":{"name":"a"},"fingerprint":"f"}`, damaged},
		"schema a word":           {`{"schema_version":"abc","phase":"complete","recipe":{"name":"a"},"fingerprint":"f"}`, damaged},
		"R006 newer schema":       {`{"schema_version":2,"phase":"complete","recipe":{"name":"a"},"fingerprint":"f","extra":1}`, newer},
		"blank fingerprint":       {`{"schema_version":1,"phase":"complete","recipe":{"name":"a"},"fingerprint":""}`, damaged},
		"a thing twice":           {`{"schema_version":1,"phase":"complete","recipe":{"name":"a"},"fingerprint":"f","claims":[{"thing":"path:/a"},{"thing":"path:/a"}]}`, damaged},
		"R007 H25 unknown fields": {`{"schema_version":1,"phase":"complete","recipe":{"name":"a"},"fingerprint":"f","claims":[],"later":{"x":1}}`, fine},
	} {
		t.Run(name, func(t *testing.T) {
			store, h, _ := newStore(t)
			put(t, h, record.File, c.text)
			_, err := store.Load(context.Background())
			_, isDamaged := errors.AsType[*record.UnreadableError](err)
			_, isNewer := errors.AsType[*block.NewerError](err)
			if isDamaged != (c.want == damaged) || isNewer != (c.want == newer) || (err == nil) != (c.want == fine) {
				t.Errorf("error %v", err)
			}
			if get(t, h, record.File) != c.text {
				t.Error("loading changed the file")
			}
		})
	}
}

// TestR007UnknownFieldsAreKept: what a later release wrote survives a rewrite,
// in the record and in its claims.
func TestR007UnknownFieldsAreKept(t *testing.T) {
	store, h, _ := newStore(t)
	put(t, h, record.File, `{"schema_version":1,"phase":"complete","recipe":{"name":"a"},"fingerprint":"f","later":{"x":1},
		"claims":[{"thing":"path:/a","origin":{},"mood":"good"}]}`)
	r, err := store.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.Phase = record.Resetting
	if err := store.Save(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(get(t, h, record.File)), "")
	for _, want := range []string{`"later":{"x":1}`, `"mood":"good"`, `"phase":"resetting"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestRecordIsADirectory(t *testing.T) {
	store, h, _ := newStore(t)
	if err := h.Files.MkdirAll(record.File, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(context.Background()); !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}

// TestStateOfOthersIsRefused: a state directory that others can write, that is
// not root's, or that is a link is not trusted.
func TestStateOfOthersIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(h host.Host) error{
		"world-writable": func(h host.Host) error { return h.Files.Chmod(record.Dir, 0o777) },
		"another's":      func(h host.Host) error { return h.Files.Lchown(record.Dir, 1000, 1000) },
		"a link": func(h host.Host) error {
			return errors.Join(h.Files.Remove(record.Dir), h.Files.SymlinkIfPossible("/tmp", record.Dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, h, _ := newStore(t)
			if err := errors.Join(h.Files.MkdirAll(record.Dir, 0o700), spoil(h)); err != nil {
				t.Fatal(err)
			}
			if err := store.CheckPrivate(); err == nil || !strings.Contains(err.Error(), record.Dir) {
				t.Errorf("CheckPrivate: %v", err)
			}
			if err := store.Save(context.Background(), sample()); err == nil {
				t.Error("a record was saved there")
			}
		})
	}
}

// TestR122RemovalIsPutBack: a removal that cannot be made durable puts the
// record back; R123: one that was not loadable stays away.
func TestR122RemovalIsPutBack(t *testing.T) {
	store, h, m := newStore(t)
	ctx := context.Background()
	if err := store.Save(ctx, sample()); err != nil {
		t.Fatal(err)
	}
	failing := h
	failing.Files = &noDirSync{Files: h.Files}
	broken := record.NewStore(failing, rand.Reader)
	if err := broken.Remove(ctx, sample()); err == nil {
		t.Fatal("no error")
	}
	if _, err := store.Load(ctx); err != nil {
		t.Errorf("the record was not put back: %v", err)
	}
	failing.Files = &noDirSync{Files: h.Files}
	if err := record.NewStore(failing, rand.Reader).Remove(ctx, nil); err == nil {
		t.Fatal("no error")
	}
	if _, err := store.Load(ctx); !errors.Is(err, record.ErrAbsent) {
		t.Errorf("R123: %v", err)
	}
	_ = m
}

// TestKey: the key is minted once and stays, and keyed hashes differ by key.
func TestKey(t *testing.T) {
	h := memory.New(memory.Options{}).Host()
	store := record.NewStore(h, bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	k, err := store.Key()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SaveKey(k); err != nil {
		t.Fatal(err)
	}
	again, err := record.NewStore(h, rand.Reader).Key()
	if err != nil || !bytes.Equal(again, k) {
		t.Errorf("key %x, %v", again, err)
	}
	other := record.Key(bytes.Repeat([]byte{8}, 32))
	if k.Keyed("sha256:aa") == other.Keyed("sha256:aa") || !strings.HasPrefix(k.Keyed("sha256:aa"), "keyed:") {
		t.Error("the hash does not depend on the key")
	}
	put(t, h, record.KeyFile, "short")
	if _, err := store.Key(); err == nil {
		t.Error("a damaged key was taken")
	}
}

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
