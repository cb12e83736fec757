package record_test

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// TestStateRoundTrip: a state is content-addressed with its files, and damage
// is found.
func TestStateRoundTrip(t *testing.T) {
	store, h, _ := newStore(t)
	ctx := context.Background()
	st := record.State{Recipe: record.Recipe{Name: "worker"}, Fingerprint: "f", Steps: []block.Stored{block.Store(placed("note.a", "/etc/a", "x"))}}
	files := map[string][]byte{record.FileName("src", ""): []byte("text"), record.FileName("src", "files/raw"): {0, 1, 2}}
	name, err := store.SaveState(ctx, st, files)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.LoadState(ctx, name)
	if err != nil || len(got.Steps) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	raw, err := store.Assets(got, "src").ReadFile("files/raw")
	if err != nil || !slices.Equal(raw, []byte{0, 1, 2}) {
		t.Errorf("file %v, %v", raw, err)
	}
	if _, err := store.Assets(got, "src").ReadFile("other"); err == nil {
		t.Error("a file that is not there was read")
	}
	names, err := store.States()
	if err != nil || !slices.Equal(names, []string{name}) {
		t.Errorf("states %v, %v", names, err)
	}
	put(t, h, record.StateDir+"/"+name[len("sha256:"):]+".json", "{}")
	if _, err := store.LoadState(ctx, name); err == nil {
		t.Error("a damaged state was loaded")
	}
}

// TestSweepKeepsWhatIsNamed: states, blobs and backups that the record does
// not name go.
func TestSweepKeepsWhatIsNamed(t *testing.T) {
	store, h, _ := newStore(t)
	ctx := context.Background()
	keep, err := store.SaveState(ctx, record.State{Fingerprint: "a"}, map[string][]byte{record.FileName("src", "f"): []byte("kept")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveState(ctx, record.State{Fingerprint: "b"}, map[string][]byte{"f": []byte("gone")}); err != nil {
		t.Fatal(err)
	}
	put(t, h, "/etc/x", "original")
	put(t, h, "/etc/y", "original")
	backup := keepFile(t, store, h, "/etc/x")
	keepFile(t, store, h, "/etc/y")
	r := sample()
	r.Applied = keep
	r.Claims = []record.Claim{{Thing: "path:/etc/x", Origin: thing.Origin{Kind: thing.OriginSaved, Backup: backup}}}
	if err := store.Sweep(ctx, r); err != nil {
		t.Fatal(err)
	}
	states, _ := host.Names(h.Files, record.StateDir)
	backups, _ := host.Names(h.Files, record.BackupDir)
	if len(states) != 2 || len(backups) != 2 {
		t.Errorf("left: states %v, backups %v", states, backups)
	}
	st, err := store.LoadState(ctx, keep)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := store.Assets(st, "src").ReadFile("f"); err != nil || string(b) != "kept" {
		t.Errorf("%q, %v", b, err)
	}
}

func keepFile(t *testing.T, store *record.Store, h host.Host, path string) string {
	t.Helper()
	st, err := thing.LookPath(h.Files, path)
	if err != nil {
		t.Fatal(err)
	}
	backup, err := store.Backups().Keep(context.Background(), h, thing.Path(path).Key(), path, st)
	if err != nil {
		t.Fatal(err)
	}
	return backup
}

// TestBackups: files, links and trees come back byte for byte with mode,
// owner, attributes and time.
func TestBackups(t *testing.T) {
	m := memory.New(memory.Options{Files: map[string]memory.File{
		"/etc/f":          {Content: "original", Mode: 0o4640, UID: 3, GID: 4, Xattrs: map[string]string{"user.a": "b"}},
		"/etc/l":          {Link: "../run/f\xe9"}, // no UTF-8
		"/etc/d":          {Dir: true, Mode: 0o750},
		"/etc/d/sub/file": {Content: "inner", Mode: 0o600},
		"/etc/d/sub/link": {Link: "file"},
	}})
	h := m.Host()
	at := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	for _, name := range []string{"/etc/f", "/etc/d/sub/file", "/etc/d"} {
		if err := h.Files.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	store := record.NewStore(h, rand.Reader)
	before := m.Snapshot(record.Dir)
	backups := map[string]string{}
	for _, name := range []string{"/etc/f", "/etc/l", "/etc/d"} {
		backups[name] = keepFile(t, store, h, name)
	}
	keepFile(t, store, h, "/etc/f")
	put(t, h, "/etc/f", "ours")
	if err := h.Files.RemoveAll("/etc/d"); err != nil {
		t.Fatal(err)
	}
	if err := host.Remove(h.Files, "/etc/l"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // twice: an interrupted reset does it again
		for name, backup := range backups {
			if err := store.Backups().Restore(context.Background(), h, backup, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := memory.Difference(before, m.Snapshot(record.Dir)); len(diff) > 0 {
		t.Errorf("not as before: %v", diff)
	}
	info, err := host.Lstat(h.Files, "/etc/f")
	if err != nil || !info.ModTime().Equal(at) {
		t.Errorf("time %v, %v", info.ModTime(), err)
	}
	sides, err := store.Backups().Sidecars()
	if err != nil || len(sides) != 3 || sides[backups["/etc/l"]].Thing != "path:/etc/l" {
		t.Errorf("sidecars %v, %v", sides, err)
	}
}

// TestStaleBackup: a backup that a forgotten claim left is not taken for the
// original of a thing that is kept anew.
func TestStaleBackup(t *testing.T) {
	h := memory.New(memory.Options{Files: map[string]memory.File{"/etc/f": {Content: "first"}, "/etc/d/x": {Content: "first"}, "/etc/l": {Link: "first"}}}).Host()
	store := record.NewStore(h, rand.Reader)
	for _, name := range []string{"/etc/f", "/etc/d", "/etc/l"} {
		keepFile(t, store, h, name)
	}
	put(t, h, "/etc/f", "second")
	put(t, h, "/etc/d/x", "second")
	if err := host.Symlink(h.Files, "second", "/etc/l"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/etc/f", "/etc/d", "/etc/l"} {
		backup := keepFile(t, store, h, name)
		if err := h.Files.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := store.Backups().Restore(context.Background(), h, backup, name); err != nil {
			t.Fatal(err)
		}
	}
	target, err := h.Files.ReadlinkIfPossible("/etc/l")
	if read(t, h, "/etc/f") != "second" || read(t, h, "/etc/d/x") != "second" || target != "second" || err != nil {
		t.Errorf("put back: %q, %q, link to %q, %v", read(t, h, "/etc/f"), read(t, h, "/etc/d/x"), target, err)
	}
}

// TestDebts: debts and owed reloads are kept until discharged, under /run.
func TestDebts(t *testing.T) {
	store, h, m := newStore(t)
	ctx := context.Background()
	a := block.Debt{Step: "restart_on_change.x", Cause: "note.a", Unit: "x.service"}
	b := block.Debt{Step: "restart_on_change.x", Cause: "note.b", Unit: "x.service"}
	for _, d := range []block.Debt{a, b} {
		if err := store.Owe(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	a.InPlace = 5
	if err := store.Owe(ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, machine := range []string{"", "kube1"} {
		if err := store.OweReload(ctx, machine); err != nil {
			t.Fatal(err)
		}
	}
	debts, err := store.Debts(ctx)
	if err != nil || len(debts) != 2 || !slices.Contains(debts, a) || !slices.Contains(debts, b) {
		t.Errorf("debts %v, %v", debts, err)
	}
	if owed, err := store.OwedReloads(); err != nil || !slices.Equal(owed, []string{"", "kube1"}) {
		t.Errorf("reloads %q, %v", owed, err)
	}
	if err := store.Discharge(ctx, []block.Debt{b}); err != nil {
		t.Fatal(err)
	}
	if err := store.Reloaded("kube1"); err != nil {
		t.Fatal(err)
	}
	debts, err = store.Debts(ctx)
	if err != nil || !slices.Equal(debts, []block.Debt{a}) {
		t.Errorf("debts %v, %v", debts, err)
	}
	m.Reboot()
	if debts, err = record.NewStore(m.Host(), rand.Reader).Debts(ctx); err != nil || len(debts) != 0 {
		t.Errorf("after a reboot: %v, %v", debts, err)
	}
	_ = h
}

// TestTidy: what killed writes left goes, all else stays; without such there is
// nothing to write.
func TestTidy(t *testing.T) {
	store, h, m := newStore(t)
	ctx := context.Background()
	if err := store.Save(ctx, sample()); err != nil {
		t.Fatal(err)
	}
	if err := store.Owe(ctx, block.Debt{Step: "s", Cause: "c"}); err != nil {
		t.Fatal(err)
	}
	if err := store.WriteNote("last_run.json", 1); err != nil {
		t.Fatal(err)
	}
	before := m.Snapshot()
	left := []string{record.File, record.RunDir + "/last_run.json", record.DebtDir + "/x.json", record.ReloadDebt}
	for _, name := range left {
		if err := host.Replace(h.Files, host.TemporaryName(name), host.Content{Bytes: []byte("half"), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := store.Tidy(); err != nil {
			t.Fatal(err)
		}
		if diff := memory.Difference(before, m.Snapshot()); len(diff) > 0 {
			t.Fatal(diff)
		}
	}
}

// TestEraseRunsAgain: a history whose erasing was cut short anywhere is gone after
// the next try, and what others have put beside it stays.
func TestEraseRunsAgain(t *testing.T) {
	ctx := context.Background()
	for _, left := range []string{record.RunsDir("site") + "/1.json", record.RunsDir("site"), path.Dir(record.RunsDir("site"))} {
		store, h, m := newStore(t)
		before := m.Snapshot()
		dir := left
		if path.Ext(left) != "" {
			dir = path.Dir(left)
		}
		if err := host.MakeParents(h.Files, dir+"/x", 0o700); err != nil {
			t.Fatal(err)
		}
		if dir != left {
			if err := host.Replace(h.Files, left, host.Content{Bytes: []byte("{}"), Mode: 0o600}); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Erase(ctx, sample()); err != nil {
			t.Fatal(err)
		}
		if diff := memory.Difference(before, m.Snapshot()); len(diff) > 0 {
			t.Errorf("%s: left %v", left, diff)
		}
	}
}

// TestEraseLeavesNothing: all that the installation remembers goes, with the
// directories that were made for it.
func TestEraseLeavesNothing(t *testing.T) {
	store, h, m := newStore(t)
	ctx := context.Background()
	before := m.Snapshot()
	r := sample()
	r.ClaimDir(thing.Key("dir:" + record.Dir))
	name, err := store.SaveState(ctx, record.State{}, map[string][]byte{"f": []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	r.Target = name
	key, err := store.Key()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SaveKey(key); err != nil {
		t.Fatal(err)
	}
	if err := store.Save(ctx, r); err != nil {
		t.Fatal(err)
	}
	if err := store.Erase(ctx, r); err != nil {
		t.Fatal(err)
	}
	if diff := memory.Difference(before, m.Snapshot()); len(diff) > 0 {
		t.Errorf("left: %v", diff)
	}
	_ = h
}

// TestNotes: notes last until they are written again; a damaged record can be
// set aside.
func TestNotes(t *testing.T) {
	store, h, _ := newStore(t)
	var got map[string]int
	if ok, err := store.ReadNote("n.json", &got); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if err := store.WriteNote("n.json", map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if ok, err := store.ReadNote("n.json", &got); !ok || err != nil || got["a"] != 1 {
		t.Errorf("%v, %v, %v", ok, err, got)
	}
	put(t, h, record.File, "damaged")
	if err := store.SetAside(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, h, record.File+".damaged"); got != "damaged" {
		t.Errorf("kept %q", got)
	}
	if err := store.SetAside(); err != nil {
		t.Errorf("nothing to set aside: %v", err)
	}
}
