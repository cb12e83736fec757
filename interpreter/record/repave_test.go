package record_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
)

func repaving(until time.Time) *record.Record {
	return &record.Record{
		Phase: record.Complete, Recipe: record.Recipe{Name: "site"}, Fingerprint: "one", Applied: "a", Target: "b", Previous: "p",
		Machines: map[string]block.Built{"m": {Active: "kube1"}, "other": {Active: "x"}},
		Repave:   &record.Repaving{Fingerprint: "two", Machines: map[string]block.Built{"m": {Active: "kube2"}}, Until: until},
	}
}

// TestTrial: a repave is on trial until its time is over, unproved until it is
// applied, and neither in another phase.
func TestTrial(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	applied := repaving(now.Add(time.Hour))
	applied.Applied = applied.Target
	installing := repaving(now.Add(time.Hour))
	installing.Phase = record.Installing
	for name, c := range map[string]struct {
		r               *record.Record
		trial, unproved bool
	}{
		"in time":         {repaving(now.Add(time.Second)), true, true},
		"over":            {repaving(now), false, true},
		"interrupted":     {repaving(time.Time{}), false, true},
		"applied":         {applied, false, false},
		"installing":      {installing, false, false},
		"without one":     {&record.Record{Phase: record.Complete, Applied: "a", Target: "b"}, false, false},
		"nothing at all":  {&record.Record{}, false, false},
		"of another time": {repaving(now.Add(-time.Hour)), false, true},
	} {
		if got := c.r.Trial(now); got != c.trial || c.r.Unproved() != c.unproved {
			t.Errorf("%s: trial %v, unproved %v", name, got, c.r.Unproved())
		}
	}
}

// TestProve: everything moves at once, and what was before is remembered.
func TestProve(t *testing.T) {
	r := repaving(time.Time{})
	r.Superseded = []string{"zero", "two"}
	r.Prove(record.Recipe{Name: "site", Version: "2.0.0"}, "two")
	if r.Applied != "b" || r.Previous != "a" || r.Fingerprint != "two" || r.Recipe.Version != "2.0.0" || r.Phase != record.Complete {
		t.Errorf("record %+v", r)
	}
	if !slices.Equal(r.Superseded, []string{"zero", "one"}) || r.Machines["m"].Active != "kube2" || r.Machines["other"].Active != "x" {
		t.Errorf("superseded %v, machines %v", r.Superseded, r.Machines)
	}
	if r.Repave == nil || r.Repave.Fingerprint != "" || r.Unproved() {
		t.Errorf("repave %+v", r.Repave)
	}
	r.Supersede("two")
	if len(r.Superseded) != 2 {
		t.Errorf("the same identity supersedes itself: %v", r.Superseded)
	}
	bare := &record.Record{Phase: record.Complete, Applied: "a", Target: "b", Repave: &record.Repaving{}}
	if bare.Prove(record.Recipe{Name: "site"}, "x"); bare.Applied != "b" {
		t.Errorf("record %+v", bare)
	}
}

// TestRepavingIsPlain: what is not said is not written.
func TestRepavingIsPlain(t *testing.T) {
	for want, r := range map[string]record.Repaving{
		`{}`: {}, `{"rebuild":["m"]}`: {Rebuild: []string{"m"}},
		`{"fingerprint":"f","confirm_until":"2026-01-01T00:00:00Z"}`: {Fingerprint: "f", Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		got, err := json.Marshal(r)
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}

// TestAdmitRepave: it alone moves the identity, and not the prefix; what it is
// on the way to may be given to ensure.
func TestAdmitRepave(t *testing.T) {
	complete := &record.Record{Phase: record.Complete, Recipe: record.Recipe{Name: "site"}, Fingerprint: "one", Applied: "a", Target: "a"}
	installing := &record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: "site"}, Fingerprint: "one", Applied: "a", Target: "b"}
	for name, c := range map[string]struct {
		verb    record.Verb
		r       *record.Record
		given   record.Identity
		refused string
		warns   string
	}{
		"another identity":        {record.Repave, complete, record.Identity{Recipe: "site", Fingerprint: "two"}, "", ""},
		"another recipe":          {record.Repave, complete, record.Identity{Recipe: "other", Fingerprint: "two"}, "", ""},
		"unfinished":              {record.Repave, installing, record.Identity{Recipe: "site", Fingerprint: "two"}, "", ""},
		"another prefix":          {record.Repave, complete, record.Identity{Recipe: "site", Fingerprint: "two", Prefix: "/opt/x"}, "prefix", ""},
		"unfinished, prefix":      {record.Repave, installing, record.Identity{Recipe: "site", Fingerprint: "one", Prefix: "/opt/x"}, "prefix", ""},
		"apply":                   {record.Apply, complete, record.Identity{Recipe: "site", Fingerprint: "two"}, "fingerprint", ""},
		"ensure":                  {record.Ensure, complete, record.Identity{Recipe: "site", Fingerprint: "two"}, "fingerprint", ""},
		"ensure, on the way":      {record.Ensure, repaving(time.Time{}), record.Identity{Recipe: "site", Fingerprint: "two"}, "", "Identity not moved yet"},
		"ensure, to somewhere":    {record.Ensure, repaving(time.Time{}), record.Identity{Recipe: "site", Fingerprint: "three"}, "fingerprint", ""},
		"ensure, not on the way":  {record.Ensure, repaving(time.Time{}), record.Identity{Recipe: "site", Fingerprint: "one"}, "", ""},
		"ensure, other prefix":    {record.Ensure, complete, record.Identity{Recipe: "site", Fingerprint: "one", Prefix: "/opt/x"}, "prefix", ""},
		"apply, while on the way": {record.Apply, repaving(time.Time{}), record.Identity{Recipe: "site", Fingerprint: "two"}, "fingerprint", ""},
	} {
		a, err := record.Admit(c.verb, c.r, nil, &c.given, nil)
		_, refused := errors.AsType[*record.RefusedError](err)
		if refused != (c.refused != "") || refused && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if (len(a.Warnings) > 0) != (c.warns != "") || c.warns != "" && a.Warnings[0].Summary != c.warns {
			t.Errorf("%s: warnings %v", name, a.Warnings)
		}
	}
}
