package writefileifchanged_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/zclconf/go-cty/cty"

	writefile "hostler/builtins/blocks/write_file_if_changed"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

func TestAHoleThatMustBeWrittenNeedsItsInput(t *testing.T) {
	args := blocktest.Args(t, writefile.Type(), "path = \"/etc/token\"\ncontent = \"x\"\nmode = \"0600\"")
	hole("content", "secret")(&args)
	step := blocktest.StepOf(t, writefile.Type(), args)
	for name, f := range map[string]files{"gone": nil, "edited": {"/etc/token": {Content: "other", Mode: 0o600}}} {
		s := blocktest.NewStage(on(f)(t))
		s.Keyed = keyed
		change := s.MustCheck(t, step)
		if !change.Needed() || !change.Diffs[0].Secret || change.Diffs[0].New != nil {
			t.Errorf("%s: %+v", name, change)
		}
		err := s.Apply(step)
		if !errors.Is(err, block.ErrNeedsInput) || !strings.Contains(err.Error(), "/etc/token") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := blocktest.NewStage(on(files{"/etc/token": {Content: "secret", Mode: 0o644}})(t))
	s.Keyed = keyed
	s.MustApply(t, step)
	if want := step.Owns()[0]; want.Want.Digest != keyed(thing.Digest([]byte("secret"))) || !want.Sensitive || want.Want.Size != 6 {
		t.Errorf("owned: %+v", want)
	}
	s.Keyed = nil
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "installation key") {
		t.Errorf("without a key: %+v", change)
	}
}

func TestWhatIsNotForEveryoneIsNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		file   memory.File
		mode   string
		secret bool
	}{
		"public":              {memory.File{Content: "old"}, "0644", false},
		"private on the host": {memory.File{Content: "old", Mode: 0o640}, "0644", true},
		"private to be":       {memory.File{Content: "old"}, "0600", true},
	} {
		change := blocktest.NewStage(on(files{"/etc/x": c.file})(t)).MustCheck(t, write(t, "/etc/x", "new", `mode = "`+c.mode+`"`))
		if d := change.Diffs[0]; d.Secret != c.secret || string(d.Old) != "old" || string(d.New) != "new" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func validated(t testing.TB, secret bool) block.Step {
	args := blocktest.Args(t, writefile.Type(), `
		path     = "/etc/sudoers.d/x"
		content  = "new"
		mode     = "0440"
		validate = ["visudo", "-cf", "{}"]
	`)
	args.Secret = map[string]bool{"content": secret}
	return blocktest.StepOf(t, writefile.Type(), args)
}

// visudo refuses everything, and says what it read.
func visudo(t *testing.T, exit int) host.Host {
	return memory.New(memory.Options{
		Executables: []string{"visudo"}, Files: files{"/etc/sudoers.d/x": {Content: "old"}},
		Programs: map[string]memory.Program{"visudo": func(i memory.Invocation) host.CommandResult {
			b, err := thing.ReadAll(i.Host.Files, i.Argv[2])
			info, statErr := host.Lstat(i.Host.Files, i.Argv[2])
			if err != nil || statErr != nil || i.Argv[1] != "-cf" || info.Mode().Perm() != 0o440 {
				t.Errorf("visudo was run as %v over %q (%v)", i.Argv, b, err)
			}
			return host.CommandResult{ExitCode: exit, Stderr: []byte("cannot take " + string(b))}
		}},
	}).Host()
}

func TestValidateRunsOverTheCompleteFileBeforeItIsInPlace(t *testing.T) {
	h := visudo(t, 0)
	blocktest.NewStage(h).MustApply(t, validated(t, false))
	h = visudo(t, 3)
	before := blocktest.Snapshot(t, h.Files, "/etc")
	err := blocktest.NewStage(h).Apply(validated(t, false))
	holds(t, err, "/etc/sudoers.d/x", "visudo: exit status 3: cannot take new", "the file is as before")
	err = blocktest.NewStage(h).Apply(validated(t, true))
	holds(t, err, "/etc/sudoers.d/x", "visudo", "exit status 3", "withheld")
	if strings.Contains(err.Error(), "cannot take") {
		t.Errorf("the error holds what the program read: %v", err)
	}
	if diff := blocktest.Snapshot(t, h.Files, "/etc").Untouched(before); diff != "" {
		t.Error(diff)
	}
}

func TestValidateIsSkippedWhereNothingRuns(t *testing.T) {
	s := blocktest.NewStage(memory.New(memory.Options{Offline: true}).Host())
	s.MustApply(t, validated(t, false))
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Summary, "/etc/sudoers.d/x was not validated") {
		t.Errorf("warnings: %+v", s.Warnings)
	}
	s = blocktest.NewStage(memory.New(memory.Options{}).Host())
	if err := s.Apply(validated(t, false)); !errors.Is(err, host.ErrNoTool) {
		t.Errorf("a missing validator: %v", err)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		``:                           "path is required",
		`path = "/etc/x"`:            "exactly one of content, content_base64 and source for /etc/x; 0 are given",
		"path = \"/\"\ncontent=\"\"": "root directory",
		"path = \"/etc/x\"\ncontent = \"a\"\ncontent_base64 = \"YQ==\"":    "2 are given",
		"path = \"/etc/x\"\ncontent_base64 = \"%\"":                        "not standard base64",
		"path = \"/etc/x\"\ncontent = \"\"\nvalidate = [\"visudo\"]":       "Write {} where",
		"path = \"/etc/x\"\ncontent = \"\"\nvalidate = [\"visudo -c {}\"]": "no shell splits it",
		"path = \"/etc/x\"\ncontent = \"\"\nmerge = \"yaml\"":              `write one of "json"`,
		"path = \"/etc/x\"\ncontent = \"\"\nowner = \"no body\"":           "no user name",
		"path = \"/etc/x\"\ncontent = \"\"\ndirectory_mode = \"755\"":      `write "0755"`,
		"path = \"/etc/x\"\nsource = \"gone\"":                             "Content cannot be read",
	} {
		typ := writefile.Type()
		args, diags := blocktest.Decode(typ.Schema, body)
		args.Assets = blocktest.Assets{}
		if !diags.HasErrors() {
			_, diags = typ.New(args)
		}
		if !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v does not hold %q", body, diags, want)
		}
	}
}

func TestAFileThatCannotBeReplacedByAFile(t *testing.T) {
	h := on(files{"/etc/x": {Dir: true}})(t)
	if err := h.Files.(host.Special).Mknod("/etc/fifo", syscallFIFO, 0); err != nil {
		t.Fatal(err)
	}
	s := blocktest.NewStage(h)
	_, err := s.Check(write(t, "/etc/x", "x"))
	holds(t, err, "/etc/x", "a directory is there")
	_, err = s.Check(write(t, "/etc/fifo", "x"))
	holds(t, err, "/etc/fifo", "a device, socket or pipe is there")
	change := s.MustCheck(t, write(t, "/etc/y", "x", `owner = "ghost"`))
	if change.Action != block.ActionUnknown || !strings.Contains(change.Reason, `no user "ghost" in /etc/passwd`) {
		t.Errorf("unknown owner: %+v", change)
	}
	holds(t, s.Apply(write(t, "/etc/y", "x", `group = "ghost"`)), "/etc/y", `no group "ghost" in /etc/group`)
}

// A step made from a claim knows the digest of large content and not the
// content: it can be undone and compared, not written.
func TestASlimmedStepIsNotWritten(t *testing.T) {
	typ := writefile.Type()
	args := blocktest.Args(t, typ, "path = \"/etc/x\"\ncontent = \"x\"")
	hole("content", "large")(&args)
	args.Holes["content"] = block.Hole{Digest: thing.Digest([]byte("large")), Size: 5}
	args.Secret = nil
	step := blocktest.StepOf(t, typ, args)
	s := blocktest.NewStage(on(files{"/etc/x": {Content: "large"}})(t))
	s.MustHold(t, step)
	edit(t, s.Host, "/etc/x", "other")
	holds(t, s.Apply(step), "/etc/x", "its content is not stored")

	args = blocktest.Args(t, typ, "path = \"/etc/x\"\ncontent = \"\"")
	vals := args.Value.AsValueMap()
	vals["content"], vals["source"] = vals["source"], vals["content"]
	args.Value, args.Ranges = object(vals), nil
	step = blocktest.StepOf(t, typ, args)
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || step.Owns()[0].Want != nil {
		t.Errorf("without its asset: %+v, %+v", change, step.Owns()[0])
	}
}

// syscallFIFO is the mode of a FIFO that only root may use.
const syscallFIFO = syscall.S_IFIFO | 0o600

func object(vals map[string]cty.Value) cty.Value { return cty.ObjectVal(vals) }
