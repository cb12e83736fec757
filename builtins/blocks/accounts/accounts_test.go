package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"hostler/builtins/blocks/accounts"
	"hostler/builtins/blocks/directory"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/thing"
)

const body = `
	path = "/etc/sysusers.d/agent.conf"
	group "metrics" { id = 950 }
	user "agent" {
		id          = 951
		description = "100% metrics"
		home        = "/var/lib/agent"
		groups      = ["adm", "metrics"]
	}
	user "probe" { group = "metrics" }
`

const content = `g metrics 950
u agent 951 "100%% metrics" /var/lib/agent -
m agent adm
m agent metrics
u probe -:metrics - - -
`

const (
	passwd = "root:x:0:0:root:/root:/bin/bash\n"
	groups = "root:x:0:\nadm:x:4:syslog\n"
)

// sysusers does what systemd-sysusers does with what the block writes.
func sysusers(i memory.Invocation) host.CommandResult {
	raw, err := thing.ReadAll(i.Host.Files, i.Argv[1])
	next := 900
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		f := strings.Fields(line)
		next++
		switch {
		case err != nil:
		case f[0] == "m":
			err = join(i.Host, f[1], f[2])
		case f[0] == "g":
			err = add(i.Host, "/etc/group", f[1], fmt.Sprintf("%s:x:%d:", f[1], next))
		default:
			err = add(i.Host, "/etc/passwd", f[1], fmt.Sprintf("%s:x:%d:%d::/:/usr/sbin/nologin", f[1], next, next))
			if err == nil && !strings.Contains(f[2], ":") {
				err = add(i.Host, "/etc/group", f[1], fmt.Sprintf("%s:x:%d:", f[1], next))
			}
		}
	}
	if err != nil {
		return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
	}
	return host.CommandResult{}
}

func add(h host.Host, file, name, line string) error {
	raw, err := thing.ReadAll(h.Files, file)
	if err != nil || strings.Contains("\n"+string(raw), "\n"+name+":") {
		return err
	}
	return host.Replace(h.Files, file, host.Content{Bytes: append(raw, line+"\n"...), Mode: 0o644})
}

func join(h host.Host, user, group string) error {
	raw, err := thing.ReadAll(h.Files, "/etc/group")
	if err != nil {
		return err
	}
	lines := strings.Split(string(raw), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, group+":") {
			lines[i] = strings.TrimSuffix(line, ",") + map[bool]string{true: "", false: ","}[strings.HasSuffix(line, ":")] + user
		}
	}
	return host.Replace(h.Files, "/etc/group", host.Content{Bytes: []byte(strings.Join(lines, "\n")), Mode: 0o644})
}

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		o.Executables = []string{"systemd-sysusers"}
		o.Programs = map[string]memory.Program{"systemd-sysusers": sysusers}
		if o.Files == nil {
			o.Files = map[string]memory.File{}
		}
		if _, given := o.Files["/etc/group"]; !given {
			o.Files["/etc/passwd"], o.Files["/etc/group"] = memory.File{Content: passwd}, memory.File{Content: groups}
		}
		return memory.New(o).Host()
	}
}

func TestContract(t *testing.T) {
	there := map[string]memory.File{
		"/etc/passwd": {Content: passwd + "agent:x:1:2::/:/bin/sh\nprobe:x:3:950::/:/bin/sh\n"},
		"/etc/group":  {Content: groups + "metrics:x:950:agent\nagent:x:2:\nother:x:7:\n"},
	}
	for name, c := range map[string]blocktest.Case{
		"new":            {Host: on(memory.Options{})},
		"offline":        {Host: on(memory.Options{Offline: true})},
		"some are there": {Host: on(memory.Options{Files: there})},
	} {
		c.Type, c.Body, c.Roots = accounts.Type(), body, []string{"/etc/sysusers.d"}
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

func TestMadeAndTakenOutAgain(t *testing.T) {
	h := on(memory.Options{Files: map[string]memory.File{
		"/etc/passwd": {Content: passwd}, "/etc/group": {Content: groups}, "/etc/gshadow": {Content: "root:*::\nadm:*::syslog\n"},
	}})(t)
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, accounts.Type(), body)
	s.MustApply(t, step)
	if got := read(t, h, "/etc/sysusers.d/agent.conf"); got != content {
		t.Errorf("the drop-in is\n%s\nwant\n%s", got, content)
	}
	if got := read(t, h, "/etc/group"); !strings.Contains(got, "adm:x:4:syslog,agent\n") {
		t.Errorf("%s", got)
	}
	s.MustReset(t, step)
	for file, want := range map[string]string{"/etc/passwd": passwd, "/etc/group": groups, "/etc/gshadow": "root:*::\nadm:*::syslog\n"} {
		if got := read(t, h, file); got != want {
			t.Errorf("after reset %s is\n%s", file, got)
		}
	}
}

func TestInAPlanOwnersAreUnknown(t *testing.T) {
	s := blocktest.NewStage(shadow.Over(on(memory.Options{})(t).View()).Host())
	if err := s.Apply(blocktest.Step(t, accounts.Type(), body)); err != nil {
		t.Fatal(err)
	}
	change := s.MustCheck(t, blocktest.Step(t, directory.Type(), "path = \"/var/lib/agent\"\nowner = \"agent\""))
	if change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "accounts of /etc/sysusers.d/agent.conf") {
		t.Errorf("%+v", change)
	}
}

func TestFailures(t *testing.T) {
	for want, o := range map[string]memory.Options{
		"has no systemd-sysusers": {},
		"exit status 1: locked": {Executables: []string{"systemd-sysusers"}, Programs: map[string]memory.Program{
			"systemd-sysusers": func(memory.Invocation) host.CommandResult {
				return host.CommandResult{ExitCode: 1, Stderr: []byte("locked")}
			},
		}},
		"cut short": {Files: map[string]memory.File{"/etc/passwd": {Content: "agent:x\n"}}},
	} {
		err := blocktest.NewStage(memory.New(o).Host()).Apply(blocktest.Step(t, accounts.Type(), body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	const at = "path = \"/etc/sysusers.d/a.conf\"\n"
	for body, want := range map[string]string{
		"path = \"/etc/a.conf\"\nuser \"a\" {}":     `write for example "/etc/sysusers.d/demo.conf"`,
		at:                                          "at least one user or group",
		at + "user \"Web\" {}":                      "no name for a user",
		at + "user \"root\" {}":                     "no name for a user",
		at + "group \"a b\" {}":                     "no name for a group",
		at + "user \"a\" { id = 0 }":                "not free",
		at + "user \"a\" {}\nuser \"a\" {}":         "given twice",
		at + "user \"a\" { groups = [\"a:b\"] }":    "no name of a group",
		at + "user \"a\" { description = \"a:b\" }": "one line without",
		at + "user \"a\" { home = \"/a b\" }":       "cannot stand in",
	} {
		if got := blocktest.Faults(accounts.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
