package systemdunit

import (
	"errors"
	"path"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func TestContract(t *testing.T) {
	hosts := map[string]memory.Options{
		"live":    {Units: []memory.Unit{{Name: "f.service", Content: wanted, Running: true, Enabled: true}}},
		"offline": {Offline: true, Units: []memory.Unit{{Name: "f.service", Content: wanted, Enabled: true}}},
	}
	bodies := map[string]string{
		"own": "name = \"a.service\"\nenable = true\nstate = \"started\"\n" + heredoc +
			"drop_in \"10-x.conf\" {\n content = \"[Service]\\nNice=5\\n\"\n}\n",
		"also": "name = \"a.service\"\nenable = true\n" +
			"content = \"[Service]\\nExecStart=/usr/bin/true\\n[Install]\\nWantedBy=multi-user.target\\nAlso=f.service\\n\"\n",
		"oneshot": "name = \"a.service\"\nstate = \"started\"\ncontent = \"[Service]\\nType=oneshot\\nExecStart=/usr/bin/true\\n\"\n",
		"drop-in": "name = \"f.service\"\ndrop_in \"10-x.conf\" {\n content = \"[Service]\\nNice=5\\n\"\n mode = \"0600\"\n}\n",
		"masked":  "name = \"f.service\"\nmask = true\nstate = \"stopped\"\n",
		"off":     "name = \"f.service\"\nenable = false\nstate = \"stopped\"\n",
	}
	for hostName, options := range hosts {
		for name, body := range bodies {
			t.Run(hostName+"/"+name, func(t *testing.T) {
				blocktest.Run(t, blocktest.Case{
					Type: Type(), Body: body,
					Host:      func(t *testing.T) host.Host { return hostOf(memory.New(options)) },
					Prepare:   func(s *blocktest.Stage) { s.Host.Units = reloading{s.Host.Units} },
					Tolerated: []string{"reset-failed"},
					Roots:     []string{"/etc", "/usr", "/run"}, Names: []string{"a.service", "f.service"},
				})
			})
		}
	}
}

func TestOwnUnit(t *testing.T) {
	s := newScene(t, memory.Options{})
	step := s.step("name = \"a.service\"\nenable = true\nstate = \"started\"\nmode = \"0600\"\n" + heredoc)
	change := s.MustCheck(t, step)
	if change.Action != block.ActionCreate || !change.Bytes || len(change.Diffs) != 3 || !change.Diffs[0].Secret {
		t.Errorf("change %+v", change)
	}
	if got := string(change.Diffs[0].New); got != wanted || change.Diffs[0].NewMode != "0600" || change.Diffs[0].Old != nil {
		t.Errorf("diff %+v", change.Diffs[0])
	}
	if note := change.Diffs[1].Note; !strings.HasPrefix(note, "disabled -> enabled: ") || !strings.Contains(note, "multi-user.target.wants/a.service") {
		t.Errorf("note of the links: %q", note)
	}
	if change.Diffs[2].Note != "inactive -> active" {
		t.Errorf("note of the state: %q", change.Diffs[2].Note)
	}
	s.MustApply(t, step)
	if s.read(ownUnit) != wanted || !s.unit("a.service").Running() {
		t.Error("the unit is not there or does not run")
	}
	s.wantLinks("a.service", "multi-user.target.wants/a.service")
	s.MustReset(t, step)
	if u := s.unit("a.service"); u.LoadState != "not-found" || u.Running() {
		t.Errorf("after reset the unit is %s, %s", u.LoadState, u.ActiveState)
	}
}

// TestOnlyModeDrifted: a mode that is put right is a change without bytes (the
// step's side of R072).
func TestR072OnlyModeDrifted(t *testing.T) {
	s := newScene(t, memory.Options{})
	step := s.step("name = \"a.service\"\n" + heredoc)
	s.MustApply(t, step)
	if err := s.Host.Files.Chmod(ownUnit, 0o600); err != nil {
		t.Fatal(err)
	}
	change := s.MustCheck(t, step)
	if change.Action != block.ActionUpdate || change.Bytes || change.Diffs[0].New != nil || change.Diffs[0].OldMode != "0600" || change.Diffs[0].NewMode != "0644" {
		t.Errorf("change %+v", change)
	}
	s.MustApply(t, step)
	if err := s.Host.Files.Lchown(ownUnit, 7, 8); err != nil {
		t.Fatal(err)
	}
	if change := s.MustCheck(t, step); change.Bytes || change.Diffs[0].OldOwner != "7:8" || !strings.Contains(change.Reason, "owner") {
		t.Errorf("change %+v", change)
	}
	s.MustApply(t, step)
}

// TestC19: an empty unit file is a mask and refused; an empty drop-in is
// content.
func TestC19EmptyContent(t *testing.T) {
	faults := blocktest.Faults(Type(), "name = \"a.service\"\ncontent = \"\"\n")
	if !strings.Contains(faults, "Empty unit file") || !strings.Contains(faults, "is a mask") || !strings.Contains(faults, "line 2") {
		t.Errorf("faults: %s", faults)
	}
	s := newScene(t, withForeign(false))
	full := s.step("name = \"f.service\"\ndrop_in \"10-x.conf\" {\n content = \"[Service]\\nNice=1\\n\"\n}\n")
	s.MustApply(t, full)
	empty := s.step("name = \"f.service\"\ndrop_in \"10-x.conf\" {\n content = \"\"\n}\n")
	change := s.MustCheck(t, empty)
	if !change.Bytes || change.Diffs[0].New == nil || len(change.Diffs[0].New) != 0 {
		t.Errorf("change %+v", change)
	}
	s.MustApply(t, empty)
	if s.read(dropFile) != "" {
		t.Error("the drop-in still has bytes")
	}
}

func TestNeedsWatcher(t *testing.T) {
	drop := "drop_in \"10-x.conf\" {\n content = \"\"\n}\n"
	for body, want := range map[string]bool{
		"state = \"started\"\n" + heredoc:                      true,
		"state = \"started\"\n" + drop:                         true,
		"state = \"started\"\nrestart = \"never\"\n" + heredoc: false,
		"state = \"started\"\n":                                false,
		"enable = true\n" + heredoc:                            false,
		"state = \"stopped\"\n" + heredoc:                      false,
	} {
		step := blocktest.Step(t, Type(), "name = \"a.service\"\n"+body)
		if got := step.(block.Watched).NeedsWatcher(); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	long := strings.Repeat("x", 260)
	for body, want := range map[string]string{
		"name = \"a.service\"\n": "Nothing to manage",
		"enable = true\n":        "does not end in a unit type",
		"name = \"a.service\"\ncontent = \"[A]\\n\"\nsource = \"x\"\n":                                             "Content needed once",
		"name = \"a.service\"\ncontent = \"[Broken\\n\"\n":                                                         "Invalid section header",
		"name = \"a.service\"\nmask = true\n" + heredoc:                                                            "Mask of a unit with content",
		"name = \"a.service\"\nmask = true\nenable = true\n":                                                       "Enabled and masked",
		"name = \"a.service\"\nmask = true\nstate = \"started\"\n":                                                 "Started and masked",
		"name = \"a@.service\"\nstate = \"started\"\n":                                                             "State of a template",
		"name = \"a.service\"\nenable = true\nrestart = \"never\"\n":                                               "Nothing to restart",
		"name = \"a.service\"\nenable = true\nstart_unless {\n machines = [\"a\"]\n}":                              "Nothing to start",
		"name = \"a.service\"\nmode = \"0999\"\n" + heredoc:                                                        "octal",
		"name = \"a.service\"\ndrop_in \"x\" {\n content = \"\"\n}":                                                "does not end in .conf",
		"name = \"a.service\"\ndrop_in \".conf\" {\n content = \"\"\n}":                                            "starts with a dot",
		"name = \"a.service\"\ndrop_in \"a/b.conf\" {\n content = \"\"\n}":                                         "no file name",
		"name = \"a.service\"\ndrop_in \"" + long + ".conf\" {\n content = \"\"\n}":                                "255 is the most",
		"name = \"a.service\"\ndrop_in \"a.conf\" {\n}":                                                            "Content needed once",
		"name = \"a.service\"\ndrop_in \"a.conf\" {\n content = \"\"\n}\ndrop_in \"a.conf\" {\n content = \"\"\n}": "Drop-in given twice",
		"name = \"a.service\"\nenable = true\ncontent = \"[Install]\\nWantedBy=nonsense\\n\"\n":                    "Cannot be enabled",
	} {
		if got := blocktest.Faults(Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s\n gives: %s\n want:  %s", body, got, want)
		}
	}
}

// TestSensitive: sensitive content is compared by its keyed hash, never shown,
// and asked for only when it must be written.
func TestSensitive(t *testing.T) {
	keyed := func(digest string) string { return "keyed:" + path.Base(digest) }
	s := newScene(t, memory.Options{})
	s.Keyed = keyed
	args := blocktest.Args(t, Type(), "name = \"a.service\"\n"+heredoc)
	args.Secret = map[string]bool{"content": true}
	s.MustApply(t, blocktest.StepOf(t, Type(), args))

	hole := blocktest.Args(t, Type(), "name = \"a.service\"\ncontent = null\n")
	hole.Secret = args.Secret
	hole.Holes = map[string]block.Hole{"content": {Keyed: keyed(thing.Digest([]byte(wanted))), Size: 9, Vars: []string{"token"}}}
	step := blocktest.StepOf(t, Type(), hole)
	s.MustHold(t, step)
	if o := step.Owns()[0]; !o.Sensitive || o.Want.Digest != hole.Holes["content"].Keyed || o.Want.Size != 9 {
		t.Errorf("owned %+v", o)
	}
	s.write(ownUnit, plain)
	change := s.MustCheck(t, step)
	if !change.Bytes || !change.Diffs[0].Secret || change.Diffs[0].New != nil {
		t.Errorf("change %+v", change)
	}
	if err := s.Apply(step); !errors.Is(err, block.ErrNeedsInput) {
		t.Errorf("apply: %v", err)
	}
	s.Keyed = nil
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown {
		t.Errorf("without a key: %+v", change)
	}
	args.Value = blocktest.Args(t, Type(), "name = \"a.service\"\ncontent = \"[Secret\\n\"\n").Value
	_, diags := Type().New(args)
	if !diags.HasErrors() || strings.Contains(diags.Error(), "[Secret") {
		t.Errorf("diagnostics: %v", diags)
	}
}

func TestSource(t *testing.T) {
	s := newScene(t, memory.Options{})
	args := blocktest.Args(t, Type(), "name = \"a.service\"\nsource = \"a.service\"\n")
	args.Assets = blocktest.Assets{"a.service": wanted}
	s.MustApply(t, blocktest.StepOf(t, Type(), args))
	if s.read(ownUnit) != wanted {
		t.Error("the file is not the recipe's")
	}
	args.Assets = nil
	undo := blocktest.StepOf(t, Type(), args)
	if change := s.MustCheck(t, undo); change.Action != block.ActionUnknown || undo.Owns()[0].Want != nil {
		t.Errorf("without its bytes: %+v", change)
	}
	args.Assets = blocktest.Assets{}
	if _, diags := Type().New(args); !strings.Contains(diags.Error(), "Content cannot be read") {
		t.Errorf("diagnostics: %v", diags)
	}
	args.Assets = blocktest.Assets{"a.service": ""}
	if _, diags := Type().New(args); !strings.Contains(diags.Error(), "Empty unit file") {
		t.Errorf("diagnostics: %v", diags)
	}
}

func TestForeignThingsInTheWay(t *testing.T) {
	s := newScene(t, memory.Options{Files: map[string]memory.File{ownUnit: {Dir: true}}, ReadOnly: []string{"/usr"}})
	s.complains(s.step("name = \"a.service\"\n"+heredoc), "a directory is there")
	s = newScene(t, memory.Options{ReadOnly: []string{"/etc"}})
	if _, err := s.Check(s.step("name = \"a.service\"\n" + heredoc)); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("read-only /etc: %v", err)
	}
}
