package record_test

import (
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

func things(r *record.Record) (keys []string) {
	for _, c := range r.Claims {
		keys = append(keys, string(c.Thing))
	}
	return keys
}

func retarget(t *testing.T, r *record.Record, steps ...block.Placed) []thing.Key {
	t.Helper()
	dropped, err := r.Retarget(steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

// TestRetargetHandsOver: a renamed or moved step keeps its thing's origin, and
// the order of the claims is the newest target's.
func TestRetargetHandsOver(t *testing.T) {
	r := &record.Record{}
	retarget(t, r, placed("note.a", "/etc/a", "one"), placed("note.b", "/etc/b", "two"))
	r.Claim("path:/etc/a").Origin = thing.Origin{Kind: thing.OriginSaved, Backup: "k"}
	dropped := retarget(t, r, placed("note.b", "/etc/b", "two"), placed("note.renamed", "/etc/a", "three"))
	if len(dropped) != 0 {
		t.Errorf("dropped %v", dropped)
	}
	if got := things(r); !slices.Equal(got, []string{"path:/etc/b", "path:/etc/a"}) {
		t.Errorf("claims %v", got)
	}
	a := r.Claim("path:/etc/a")
	if a.Origin.Backup != "k" || a.Step.Address != "note.renamed" {
		t.Errorf("claim %+v", a)
	}
	want := []string{thing.Digest([]byte("three")), thing.Digest([]byte("one"))}
	if !slices.Equal(a.Wrote, want) {
		t.Errorf("wrote %v, want %v", a.Wrote, want)
	}
}

// TestRetargetDrops: what a target does not own stays claimed until it is
// undone, and so does a directory without a claim below it.
func TestRetargetDrops(t *testing.T) {
	r := &record.Record{}
	retarget(t, r, placed("note.a", "/etc/a.d/a", "x"), placed("note.b", "/etc/b.d/b", "x"))
	r.ClaimDir("dir:/etc/a.d")
	r.ClaimDir("dir:/etc/b.d")
	if got := things(r); !slices.Equal(got, []string{"dir:/etc/a.d", "path:/etc/a.d/a", "dir:/etc/b.d", "path:/etc/b.d/b"}) {
		t.Fatalf("claims %v", got)
	}
	dropped := retarget(t, r, placed("note.b", "/etc/b.d/b", "x"))
	if !slices.Equal(dropped, []thing.Key{"dir:/etc/a.d", "path:/etc/a.d/a"}) {
		t.Errorf("dropped %v", dropped)
	}
	if got := things(r); !slices.Equal(got, []string{"dir:/etc/b.d", "path:/etc/b.d/b", "dir:/etc/a.d", "path:/etc/a.d/a"}) {
		t.Errorf("claims %v", got)
	}
	r.Drop("path:/etc/a.d/a")
	if r.Claim("path:/etc/a.d/a") != nil {
		t.Error("still claimed")
	}
}

// TestClaimsAreSlim: a claim holds the digest of large content, and the step
// can be made again from it.
func TestClaimsAreSlim(t *testing.T) {
	big := strings.Repeat("x", 1<<16)
	r := &record.Record{}
	retarget(t, r, placed("note.a", "/etc/a", big))
	c := r.Claim("path:/etc/a")
	if len(c.Step.Data) > 500 || !strings.Contains(string(c.Step.Data), thing.Digest([]byte(big))) {
		t.Errorf("data %s", c.Step.Data)
	}
	vocab := block.Vocabulary{Types: []*block.Type{noteType(1)}}
	p, err := vocab.Restore(*c.Step, block.Setting{})
	if err != nil {
		t.Fatal(err)
	}
	if want := p.Step.Owns()[0].Want; want.Digest != thing.Digest([]byte(big)) {
		t.Errorf("wants %+v", want)
	}
}

// TestNewerStepIsRefused: a step type that a later release moved on is not
// touched.
func TestNewerStepIsRefused(t *testing.T) {
	r := &record.Record{}
	retarget(t, r, placed("note.a", "/etc/a", "x"))
	stored := *r.Claims[0].Step
	stored.TypeVersion = 2
	vocab := block.Vocabulary{Types: []*block.Type{noteType(1)}}
	if _, err := vocab.Restore(stored, block.Setting{}); err == nil || !strings.Contains(err.Error(), "newer release") {
		t.Errorf("error %v", err)
	}
	stored.Type = "later"
	if _, err := vocab.Restore(stored, block.Setting{}); err == nil || !strings.Contains(err.Error(), "newer release") {
		t.Errorf("error %v", err)
	}
}

// TestKeyedContents: contents of sensitive bytes are keyed hashes, and are
// found again through the key.
func TestKeyedContents(t *testing.T) {
	key := record.Key(strings.Repeat("k", 32))
	digest := thing.Digest([]byte("secret"))
	c := record.Claim{Wrote: []string{key.Keyed(digest)}}
	found := thing.State{Kind: thing.File, Digest: digest}
	if !c.WroteState(found, key.Keyed) || c.WroteState(found, nil) {
		t.Error("keyed content is not recognised by its key alone")
	}
}
