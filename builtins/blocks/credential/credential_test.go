package credential_test

import (
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"hostler/builtins/blocks/credential"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const body = `
	name  = "token"
	value = "s3cret"
`

func keyed(digest string) string { return "keyed:" + strings.TrimPrefix(digest, "sha256:")[:12] }

func withKey(s *blocktest.Stage) { s.Keyed = keyed }

// creds encrypts in its way and counts.
func creds(runs *int) memory.Program {
	return func(i memory.Invocation) host.CommandResult {
		*runs++
		b, err := io.ReadAll(i.Stdin)
		if err != nil || strings.Join(i.Argv, " ") != "systemd-creds encrypt --name=token - -" {
			return host.CommandResult{ExitCode: 1, Stderr: []byte(strings.Join(i.Argv, " "))}
		}
		for j := range b {
			b[j] ^= 0x55
		}
		return host.CommandResult{Stdout: []byte(base64.StdEncoding.EncodeToString(b) + "\n")}
	}
}

func on(o memory.Options, tool bool) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		if tool {
			o.Executables = []string{"systemd-creds"}
			if o.Programs == nil {
				o.Programs = map[string]memory.Program{"systemd-creds": creds(new(int))}
			}
		}
		return memory.New(o).Host()
	}
}

func secret(a *block.Args) { a.Secret = map[string]bool{"value": true} }

func TestContract(t *testing.T) {
	stale := map[string]memory.File{"/etc/credstore/token": {Content: "old", Mode: 0o644}}
	for name, c := range map[string]blocktest.Case{
		"encrypted":              {Host: on(memory.Options{}, true)},
		"plain for want of tool": {Host: on(memory.Options{}, false)},
		"plain":                  {Host: on(memory.Options{}, true), Body: body + "encrypt = false\n"},
		"in the other place":     {Host: on(memory.Options{Files: stale}, true)},
		"another value":          {Host: on(memory.Options{Files: stale}, false)},
		"mode only":              {Host: on(memory.Options{Files: map[string]memory.File{"/etc/credstore/token": {Content: "s3cret", Mode: 0o644}}}, false)},
		"offline":                {Host: on(memory.Options{Offline: true}, true), Quiet: true},
		"offline, plain":         {Host: on(memory.Options{Offline: true}, false)},
	} {
		c.Type, c.Prepare, c.Adjust = credential.Type(), withKey, secret
		if c.Body == "" {
			c.Body = body
		}
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
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

func stage(h host.Host) *blocktest.Stage {
	s := blocktest.NewStage(h)
	withKey(s)
	return s
}

func TestEncryptedOnceAndPrivate(t *testing.T) {
	var runs int
	s := stage(on(memory.Options{Programs: map[string]memory.Program{"systemd-creds": creds(&runs)}}, true)(t))
	step := blocktest.Step(t, credential.Type(), body)
	s.MustApply(t, step)
	s.MustApply(t, step)
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
	for _, name := range []string{"/etc/credstore.encrypted/token", "/etc/credstore.encrypted/.token.hostler"} {
		state, err := thing.LookPath(s.Host.Files, name)
		if err != nil || state.Mode != "0600" || strings.Contains(read(t, s.Host, name), "s3cret") {
			t.Errorf("%s: %+v (%v)", name, state, err)
		}
	}
	if info, err := s.Host.Files.Stat("/etc/credstore.encrypted"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v (%v)", info.Mode(), err)
	}
	if change := s.MustCheck(t, blocktest.Step(t, credential.Type(), strings.Replace(body, "s3cret", "other", 1))); change.Reason != "its value differs" || !change.Bytes {
		t.Errorf("%+v", change)
	}
	if err := host.Replace(s.Host.Files, "/etc/credstore.encrypted/token", host.Content{Bytes: []byte("x"), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if change := s.MustCheck(t, step); !change.Needed() {
		t.Error("a changed file is not noticed")
	}
}

// A value that is not given is no fault while what was made from it is intact.
func TestHoles(t *testing.T) {
	for _, tool := range []bool{true, false} {
		s := stage(on(memory.Options{}, tool)(t))
		s.MustApply(t, blocktest.Step(t, credential.Type(), body))
		args := blocktest.Args(t, credential.Type(), body)
		vals := args.Value.AsValueMap()
		vals["value"] = cty.NullVal(cty.String)
		args.Value = cty.ObjectVal(vals)
		for _, c := range []struct {
			hole block.Hole
			same bool
		}{
			{block.Hole{Keyed: keyed(thing.Digest([]byte("s3cret"))), Vars: []string{"v"}}, true},
			{block.Hole{Keyed: "keyed:other", Vars: []string{"v"}}, false},
			{block.Hole{Digest: thing.Digest([]byte("s3cret"))}, true},
		} {
			args.Holes = map[string]block.Hole{"value": c.hole}
			step := blocktest.StepOf(t, credential.Type(), args)
			if change := s.MustCheck(t, step); change.Needed() == c.same {
				t.Errorf("tool %v, hole %+v: %+v", tool, c.hole, change)
			}
			if err := s.Apply(step); errors.Is(err, block.ErrNeedsInput) == c.same {
				t.Errorf("tool %v, hole %+v: %v", tool, c.hole, err)
			}
		}
		s.Keyed = nil
		if change := s.MustCheck(t, blocktest.Step(t, credential.Type(), body)); tool != (change.Action == block.ActionUnknown) {
			t.Errorf("without a key: %+v", change)
		}
	}
}

func TestFailuresShowNothing(t *testing.T) {
	for want, p := range map[string]memory.Program{
		"exit status 1; its output is withheld": func(i memory.Invocation) host.CommandResult {
			b, _ := io.ReadAll(i.Stdin)
			return host.CommandResult{ExitCode: 1, Stderr: b}
		},
		"gave nothing": func(memory.Invocation) host.CommandResult { return host.CommandResult{} },
	} {
		err := stage(on(memory.Options{Programs: map[string]memory.Program{"systemd-creds": p}}, true)(t)).Apply(blocktest.Step(t, credential.Type(), body))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := blocktest.NewStage(on(memory.Options{}, true)(t))
	if err := s.Apply(blocktest.Step(t, credential.Type(), body)); err == nil || !strings.Contains(err.Error(), "no installation key") {
		t.Error(err)
	}
}

func TestOfflineEncryptingIsDeferred(t *testing.T) {
	s := stage(on(memory.Options{Offline: true}, true)(t))
	change := s.MustCheck(t, blocktest.Step(t, credential.Type(), body))
	if change.Action != block.ActionNone || len(change.Deferred) != 1 {
		t.Errorf("%+v", change)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	_, err := stage(memory.New(memory.Options{Files: map[string]memory.File{"/etc/credstore/token": {Dir: true}}}).Host()).Check(blocktest.Step(t, credential.Type(), body))
	if err == nil || !strings.Contains(err.Error(), "a directory is there") {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"name = \"../x\"\nvalue = \"a\"": "no name of a credential",
		"name = \".x\"\nvalue = \"a\"":   "no name of a credential",
		"name = \"x\"":                   "value is required",
		"name = \"x\"\nvalue = \"" + strings.Repeat("a", 1<<20+1) + "\"": "at most 1 MiB",
	} {
		if got := blocktest.Faults(credential.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%.40s: %q does not hold %q", body, got, want)
		}
	}
}
