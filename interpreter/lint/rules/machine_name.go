package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func machineName() *lint.Rule {
	return &lint.Rule{
		Name: "machine-name", Summary: "Name systemd refuses", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The name of a machine follows the rules of host names, whatever older manuals say: 1 to 64 letters, digits, dashes and dots, and each\n" +
			"part between dots begins and ends with a letter or digit. No underscore. systemd-nspawn refuses any other when it starts, or drops\n" +
			"characters, so that the machine has another name than its directory.",
		Bad: `
nspawn_machine «"work_dev"» {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
require_capability "nspawn" {
  executable = "systemd-nspawn"
}
`,
		Good: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "work-dev" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineName,
	}
}

// machineNameFault says what is wrong with a machine's name, "" when nothing
// is.
func machineNameFault(name string) string {
	const rule = "A machine name has letters, digits, dashes and dots, and each part between dots begins and ends with a letter or digit."
	if name == "" || len(name) > 64 {
		return "A machine name has 1 to 64 characters."
	}
	const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || strings.Trim(part, alphanumeric+"-") != "" || strings.Trim(part, "-") != part {
			return rule
		}
	}
	return ""
}

func checkMachineName(p *lint.Pass) {
	for _, m := range p.Steps("nspawn_machine") {
		name, slots := m.Arg("name"), m.Arg("slots")
		switch {
		case slots.Written():
			for _, w := range lint.Words(m.Arguments, slots) {
				if fault := machineNameFault(w.Text); w.Text != "" && fault != "" {
					p.Claim(lint.Found(m, w.Expr.Range(), "systemd does not take %q as the name of a machine. %s", w.Text, fault), "Invalid value")
				}
			}
		case name.Written():
			if text, known := name.Text(); known && machineNameFault(text) != "" {
				p.Claim(lint.Found(m, name.Range, "systemd does not take %q as the name of a machine. %s", text, machineNameFault(text)), "Invalid value")
			}
		case machineNameFault(m.Label) != "":
			p.Claim(lint.Found(m, m.Block.LabelRanges[0], "systemd does not take %q as the name of a machine. %s", m.Label, machineNameFault(m.Label)), "Invalid machine name")
		}
	}
}
