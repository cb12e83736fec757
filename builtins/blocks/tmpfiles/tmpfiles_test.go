package tmpfiles_test

import (
	"strings"
	"testing"

	"hostler/builtins/blocks/tmpfiles"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const body = `
	path = "/etc/tmpfiles.d/demo.conf"
	entry {
		type = "d"
		path = "/run/demo"
		mode = "0750"
	}
	entry {
		type     = "f"
		path     = "/run/demo/state"
		argument = "100% \\n"
	}
	entry {
		type     = "L+"
		path     = "/run/demo/config"
		argument = "/etc/demo"
	}
`

// create is what systemd-tmpfiles does, as far as the block writes it.
func create(i memory.Invocation) host.CommandResult {
	if len(i.Argv) != 3 || i.Argv[1] != "--create" {
		return host.CommandResult{ExitCode: 64}
	}
	raw, err := thing.ReadAll(i.Host.Files, i.Argv[2])
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if f := strings.Fields(line); err == nil {
			err = makeEntry(i.Host.Files, f)
		}
	}
	if err != nil {
		return host.CommandResult{ExitCode: 73, Stderr: []byte(err.Error())}
	}
	return host.CommandResult{}
}

func makeEntry(f host.Files, field []string) error {
	name, mode := field[1], uint32(0o755)
	if m, err := block.ParseMode(field[2]); err == nil {
		mode = m
	}
	_, err := host.Lstat(f, name)
	there := err == nil
	switch {
	case field[0] == "d" && there:
		return host.SetAccess(f, name, host.Access{Mode: mode})
	case field[0] == "d":
		return host.MakeDir(f, name, host.Access{Mode: mode})
	case field[0] == "L+":
		return host.Symlink(f, field[6], name)
	case there:
		return nil
	}
	return host.Replace(f, name, host.Content{Mode: 0o644})
}

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		o.Executables = []string{"systemd-tmpfiles"}
		o.Programs = map[string]memory.Program{"systemd-tmpfiles": create}
		return memory.New(o).Host()
	}
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"new":        {Host: on(memory.Options{})},
		"other mode": {Host: on(memory.Options{Files: map[string]memory.File{"/run/demo": {Dir: true, Mode: 0o700}}})},
		"other link": {Host: on(memory.Options{Files: map[string]memory.File{"/run/demo/config": {Content: "x"}, "/run/demo": {Dir: true, Mode: 0o750}}})},
		"offline":    {Host: on(memory.Options{Offline: true})},
		"all there": {Host: on(memory.Options{Files: map[string]memory.File{
			"/run/demo": {Dir: true, Mode: 0o750}, "/run/demo/state": {Content: "y"}, "/run/demo/config": {Link: "/etc/demo"},
			"/etc/tmpfiles.d/demo.conf": {Content: content},
		}}), Quiet: true},
	} {
		c.Type, c.Body = tmpfiles.Type(), body
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

const content = "d /run/demo 0750 - - -\nf /run/demo/state - - - - 100%% \\\\n\nL+ /run/demo/config - - - - /etc/demo\n"

func TestTheDropIn(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{})(t))
	s.MustApply(t, blocktest.Step(t, tmpfiles.Type(), body))
	got, err := thing.ReadAll(s.Host.Files, "/etc/tmpfiles.d/demo.conf")
	if err != nil || string(got) != content {
		t.Errorf("%q, want %q (%v)", got, content, err)
	}
}

func TestOffline(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{Offline: true})(t))
	step := blocktest.Step(t, tmpfiles.Type(), body)
	s.MustApply(t, step)
	if change := s.MustCheck(t, step); len(change.Deferred) != 1 || !strings.Contains(change.Deferred[0], "made at boot") {
		t.Errorf("%+v", change)
	}
}

func TestFailures(t *testing.T) {
	for want, o := range map[string]memory.Options{
		"exit status 73: no space": {Executables: []string{"systemd-tmpfiles"}, Programs: map[string]memory.Program{"systemd-tmpfiles": func(memory.Invocation) host.CommandResult {
			return host.CommandResult{ExitCode: 73, Stderr: []byte("no space")}
		}}},
		"has no systemd-tmpfiles":      {},
		"a file is there, where a dir": {Files: map[string]memory.File{"/run/demo": {Content: "x"}}},
	} {
		err := blocktest.NewStage(memory.New(o).Host()).Apply(blocktest.Step(t, tmpfiles.Type(), body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	entry := func(lines string) string {
		return "path = \"/etc/tmpfiles.d/a.conf\"\nentry {\npath = \"/run/x\"\n" + lines + "\n}"
	}
	for body, want := range map[string]string{
		"path = \"/etc/x.conf\"\nentry {\npath = \"/run/x\"\ntype = \"d\"\n}":   `write for example "/etc/tmpfiles.d/demo.conf"`,
		"path = \"/etc/tmpfiles.d/a.conf\"":                                     "written 0 times",
		entry("type = \"z\""):                                                   "none of the values",
		entry("type = \"L\""):                                                   "where the link leads",
		entry("type = \"L\"\nargument = \"/a\"\nmode = \"0644\""):               "no mode",
		entry("type = \"d\"\nargument = \"/a\""):                                "no argument",
		entry("type = \"f\"\nage = \"1d\""):                                     "has an age",
		entry("type = \"d\"\nage = \"1 d\""):                                    "such as",
		entry("type = \"f\"\nargument = \"a\\nb\""):                             "one line",
		strings.Replace(entry("type = \"d\""), "/run/x", "/run/a b", 1):         "another path",
		entry("type = \"d\"") + "\nentry {\npath = \"/run/x\"\ntype = \"f\"\n}": "given twice",
	} {
		if got := blocktest.Faults(tmpfiles.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
