package requirecapability_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	requirecapability "hostler/builtins/blocks/require_capability"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// four are the tools of the decision table, by package.
const four = `
	executables = ["systemd-nspawn", "curl", "nft", "mountpoint"]
	packages = {
		apt  = ["systemd-container", "curl", "nftables", "util-linux"]
		dnf  = ["systemd-container", "curl", "nftables", "util-linux"]
		tdnf = ["systemd-container", "curl", "nftables", "util-linux"]
	}
`

// packager is a host with a package database.
type packager struct {
	tools []string
	calls []string
	// installed are the packages that dpkg and rpm know.
	installed []string
	// useless installs packages that bring no tools.
	useless bool
}

var toolOf = map[string]string{"systemd-container": "systemd-nspawn", "curl": "curl", "nftables": "nft", "util-linux": "mountpoint"}

func (p *packager) host(t testing.TB) host.Host {
	manage := func(i memory.Invocation) host.CommandResult {
		p.calls = append(p.calls, strings.Join(append(i.Env, i.Argv...), " "))
		if i.Argv[1] == "install" && !p.useless {
			for _, pkg := range i.Argv[2:] {
				if tool := toolOf[pkg]; tool != "" {
					if err := host.Replace(i.Host.Files, "/usr/bin/"+tool, host.Content{Mode: 0o755}); err != nil {
						t.Error(err)
					}
				}
			}
		}
		return host.CommandResult{}
	}
	ask := func(i memory.Invocation) host.CommandResult {
		p.calls = append(p.calls, strings.Join(i.Argv, " "))
		if !slices.Contains(p.installed, i.Argv[len(i.Argv)-1]) {
			return host.CommandResult{ExitCode: 1}
		}
		return host.CommandResult{Stdout: []byte("installed")}
	}
	return memory.New(memory.Options{
		NoSystemdContainer: true, Executables: p.tools,
		Programs: map[string]memory.Program{"apt-get": manage, "dnf": manage, "tdnf": manage, "dpkg-query": ask, "rpm": ask},
	}).Host()
}

// The table of how a host gets its tools (R160 to R174): what is run, and what
// is said.
func TestR166ToR173HowAHostGetsItsTools(t *testing.T) {
	tools := []string{"systemd-nspawn", "curl", "nft", "mountpoint"}
	const refresh, install = "DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get update -y", "DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get install -y --no-install-recommends "
	dpkg := func(pkg string) string { return "dpkg-query --show --showformat=${db:Status-Status} " + pkg }
	for name, c := range map[string]struct {
		image     bool
		tools     []string
		installed []string
		calls     []string // nil: nothing is run
		refused   []string // what the refusal names
		never     string   // what it must not name
	}{
		"mutable, apt, all there": {tools: append([]string{"apt-get", "dpkg-query"}, tools...)},
		"R171 mutable, apt, nft missing": {
			tools:     []string{"apt-get", "dpkg-query", "systemd-nspawn", "curl", "mountpoint"},
			installed: []string{"systemd-container", "curl", "util-linux"},
			calls: []string{dpkg("systemd-container"), dpkg("curl"), dpkg("nftables"), dpkg("util-linux"),
				refresh, install + "nftables"},
		},
		"R170 mutable, dnf, rpm is asked": {
			tools:     []string{"dnf", "rpm", "curl"},
			installed: []string{"curl"},
			calls: []string{"rpm -q --quiet systemd-container", "rpm -q --quiet curl", "rpm -q --quiet nftables", "rpm -q --quiet util-linux",
				"dnf makecache", "dnf install -y systemd-container nftables util-linux"},
		},
		"R169 mutable, tdnf without rpm, all there": {tools: append([]string{"tdnf"}, tools...)},
		"mutable, tdnf without rpm, some missing": {
			tools: []string{"tdnf", "curl"},
			calls: []string{"tdnf makecache", "tdnf install -y systemd-container curl nftables util-linux"},
		},
		"R171 apt wins over tdnf and dnf": {
			tools: []string{"dnf", "tdnf", "apt-get"},
			calls: []string{refresh, install + "systemd-container curl nftables util-linux"},
		},
		"tdnf wins over dnf": {
			tools: []string{"dnf", "tdnf"},
			calls: []string{"tdnf makecache", "tdnf install -y systemd-container curl nftables util-linux"},
		},
		"R166 mutable, no manager, all there": {tools: tools},
		"R167 mutable, no manager, nft missing": {
			tools: []string{"systemd-nspawn", "curl", "mountpoint"}, refused: []string{"missing on this host: nft", "nftables (apt)"},
		},
		"image-managed, all there": {image: true, tools: append([]string{"tdnf"}, tools...)},
		"R168 image-managed, tdnf there, nft missing": {
			image: true, tools: []string{"tdnf", "rpm", "systemd-nspawn", "curl", "mountpoint"},
			refused: []string{"missing on this host: nft", "image", "system extension"}, never: "package manager",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &packager{tools: c.tools, installed: c.installed}
			s := blocktest.NewStage(p.host(t))
			args := blocktest.Args(t, requirecapability.Type(), four)
			args.Facts.ImageManaged = c.image
			step := blocktest.StepOf(t, requirecapability.Type(), args)
			change, err := s.Check(step)
			unmet, refused := errors.AsType[*block.Unmet](err)
			switch {
			case refused != (c.refused != nil) || err != nil && !refused:
				t.Fatalf("check: %+v, %v", change, err)
			case refused:
				for _, want := range c.refused {
					if !strings.Contains(unmet.Error(), want) {
						t.Errorf("%q does not hold %q", unmet, want)
					}
				}
				if c.never != "" && strings.Contains(unmet.Error(), c.never) {
					t.Errorf("%q holds %q", unmet, c.never)
				}
				if applied, ok := errors.AsType[*block.Unmet](s.Apply(step)); !ok || *applied != *unmet {
					t.Errorf("R172: applying says %v", applied)
				}
			case change.Needed() != (c.calls != nil) || change.Needed() && change.Action != block.ActionRun:
				t.Errorf("check: %+v", change)
			default:
				s.MustApply(t, step)
			}
			if !slices.Equal(p.calls, c.calls) {
				t.Errorf("run:\n%s\nwant:\n%s", strings.Join(p.calls, "\n"), strings.Join(c.calls, "\n"))
			}
		})
	}
}

func TestInstallingThatDoesNotHelp(t *testing.T) {
	p := &packager{tools: []string{"apt-get"}, useless: true}
	step := blocktest.Step(t, requirecapability.Type(), "executable = \"nft\"\npackages = { apt = \"nftables\" }")
	err := blocktest.NewStage(p.host(t)).Apply(step)
	if err == nil || !strings.Contains(err.Error(), "executable nft: missing on this host: nft, although nftables is installed") {
		t.Error(err)
	}
}

func TestOfflineNothingIsInstalled(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Executables: []string{"apt-get"}}).Host()
	s := blocktest.NewStage(h)
	step := blocktest.Step(t, requirecapability.Type(), "executable = \"nft\"\npackages = { apt = \"nftables\" }")
	if change := s.MustCheck(t, step); change.Action != block.ActionUnknown || !strings.Contains(change.Reason, "nft") {
		t.Errorf("%+v", change)
	}
	if err := s.Apply(step); err != nil {
		t.Error(err)
	}
}
