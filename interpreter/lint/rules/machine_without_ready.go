package rules

import "hostler/interpreter/lint"

func machineWithoutReady() *lint.Rule {
	return &lint.Rule{
		Name: "machine-without-ready", Summary: "Ready is not said", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "Without `ready` the machine counts as made as soon as its manager answers: what is to run in it may have failed, and a repave would\n" +
			"move the host to it. Name a unit, a command or a file that says that the machine does its work.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

«nspawn_machine "demo"» {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
}
`,
		Good: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineWithoutReady,
	}
}

func checkMachineWithoutReady(p *lint.Pass) {
	for _, m := range p.Steps("nspawn_machine") {
		if len(m.Blocks("ready")) == 0 {
			p.ReportStep(m, m.Header, "Nothing says when the machine does its work. Write ready { unit = \"multi-user.target\" }, or what it is for.")
		}
	}
}
