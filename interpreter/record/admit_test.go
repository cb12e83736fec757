package record_test

import (
	"errors"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/record"
)

// TestAdmission is the admission table, row by row.
func TestAdmission(t *testing.T) {
	same := &record.Identity{Recipe: "worker", Fingerprint: "f"}
	other := &record.Identity{Recipe: "worker", Fingerprint: "g"}
	renamed := &record.Identity{Recipe: "else", Fingerprint: "f"}
	moved := &record.Identity{Recipe: "worker", Fingerprint: "f", Prefix: "/opt/x"}
	old := &record.Identity{Recipe: "worker", Fingerprint: "old"}
	inputs := errors.New("inputs cannot be read")
	installing := record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: "worker"}, Fingerprint: "f"}
	updating := installing
	updating.Applied = "sha256:a"
	complete := updating
	complete.Phase = record.Complete
	complete.Superseded = []string{"old"}
	resetting := installing
	resetting.Phase = record.Resetting
	damaged := &record.UnreadableError{Path: "p", Err: errors.New("cut")}
	newer := &block.NewerError{What: "the record"}

	for name, c := range map[string]struct {
		verb     record.Verb
		rec      *record.Record
		load     error
		given    *record.Identity
		givenErr error
		want     record.Course // "" is refused
		warns    bool
	}{
		"R047 none, ensure":                          {verb: record.Ensure, load: record.ErrAbsent, given: same, want: record.Fresh},
		"none, apply":                                {verb: record.Apply, load: record.ErrAbsent, given: same, want: record.Fresh},
		"none, no recipe":                            {verb: record.Ensure, load: record.ErrAbsent},
		"none, inputs unreadable":                    {verb: record.Ensure, load: record.ErrAbsent, givenErr: inputs},
		"R048 installing, ensure":                    {verb: record.Ensure, rec: &installing, given: same, want: record.Continue},
		"installing, ensure without a recipe":        {verb: record.Ensure, rec: &installing, want: record.Resume},
		"installing with applied, ensure":            {verb: record.Ensure, rec: &updating, given: same, want: record.Resume},
		"installing with applied, inputs unreadable": {verb: record.Ensure, rec: &updating, givenErr: inputs, want: record.Resume, warns: true},
		"installing, apply":                          {verb: record.Apply, rec: &installing, given: same, want: record.Continue},
		"R025 installing, other identity":            {verb: record.Ensure, rec: &installing, given: other},
		"installing, apply other identity":           {verb: record.Apply, rec: &installing, given: other},
		"R049 complete, ensure":                      {verb: record.Ensure, rec: &complete, given: same, want: record.Maintain},
		"R094 complete, ensure without a recipe":     {verb: record.Ensure, rec: &complete, want: record.Maintain},
		"complete, ensure with unreadable inputs":    {verb: record.Ensure, rec: &complete, givenErr: inputs, want: record.Maintain, warns: true},
		"complete, ensure with superseded identity":  {verb: record.Ensure, rec: &complete, given: old, want: record.Maintain, warns: true},
		"R025 complete, ensure other identity":       {verb: record.Ensure, rec: &complete, given: other},
		"complete, apply":                            {verb: record.Apply, rec: &complete, given: same, want: record.Update},
		"complete, apply without a recipe":           {verb: record.Apply, rec: &complete, want: record.Resume},
		"complete, apply superseded identity":        {verb: record.Apply, rec: &complete, given: old},
		"complete, apply with unreadable inputs":     {verb: record.Apply, rec: &complete, givenErr: inputs},
		"R026 other recipe":                          {verb: record.Apply, rec: &complete, given: renamed},
		"R032 other prefix":                          {verb: record.Ensure, rec: &complete, given: moved},
		"complete, repave may move identity":         {verb: record.Repave, rec: &complete, given: other, want: record.Update},
		"R050 resetting, ensure":                     {verb: record.Ensure, rec: &resetting, given: same},
		"resetting, apply":                           {verb: record.Apply, rec: &resetting, given: same},
		"R051 unreadable, ensure":                    {verb: record.Ensure, load: damaged, given: same},
		"unreadable, apply":                          {verb: record.Apply, load: damaged, given: same},
		"C74 newer, apply":                           {verb: record.Apply, load: newer, given: same},
		"adopt without a record":                     {verb: record.Adopt, load: record.ErrAbsent, given: same, want: record.Fresh},
		"adopt over a record":                        {verb: record.Adopt, rec: &complete, given: same},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := record.Admit(c.verb, c.rec, c.load, c.given, c.givenErr)
			if got.Course != c.want || (err == nil) != (c.want != "") {
				t.Errorf("course %q, error %v; want %q", got.Course, err, c.want)
			}
			if (len(got.Warnings) > 0) != c.warns {
				t.Errorf("warnings %v", got.Warnings)
			}
		})
	}
}

// TestRefusalsAreRecognised: what the exit code is made from.
func TestRefusalsAreRecognised(t *testing.T) {
	_, err := record.Admit(record.Ensure, &record.Record{Phase: record.Resetting}, nil, nil, nil)
	if _, ok := errors.AsType[*record.RefusedError](err); !ok {
		t.Errorf("error %v", err)
	}
}
