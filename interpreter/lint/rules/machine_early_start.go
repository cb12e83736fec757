package rules

import (
	"hostler/interpreter/lint"
)

func machineEarlyStart() *lint.Rule {
	return &lint.Rule{
		Name: "machine-early-start", Summary: "Runs before the boot", Severity: lint.Error, Profile: lint.Basic,
		Doc: "`before_boot` writes files and enables units in a tree that does not run yet: nothing can be started, restarted or run there. Enable\n" +
			"the unit, so that the machine's boot starts it, or move the step to `after_boot`.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  before_boot {
    systemd_unit "nginx.service" {
      state = «"started"»
    }
  }
  ready {
    unit = "multi-user.target"
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
  before_boot {
    systemd_unit "nginx.service" {
      enable = true
    }
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineEarlyStart,
	}
}

func checkMachineEarlyStart(p *lint.Pass) {
	for _, s := range p.Steps("systemd_unit", "restart_on_change", "command", "wait_for") {
		if !s.Inside || s.Part != "before_boot" {
			continue
		}
		if s.Type.Name != "systemd_unit" {
			p.ReportStep(s, s.Block.TypeRange, "Nothing runs in the machine before its boot, so a %s cannot either. Move it to after_boot.", s.Type.Name)
			continue
		}
		if state := s.Arg("state"); state.Written() {
			p.ReportStep(s, state.Range, "Nothing runs in the machine before its boot. Write enable = true, or move the step to after_boot.")
		}
	}
}
