package rules

import (
	"path"
	"strings"

	"hostler/interpreter/lint"
)

func machineLateFile() *lint.Rule {
	return &lint.Rule{
		Name: "machine-late-file", Summary: "Read before it is written", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "What stands in `after_boot` is written into the running machine, and this file is read when the machine boots: it has no effect until\n" +
			"somebody boots the machine again. Write it in `before_boot`.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  after_boot {
    write_file_if_changed "hostname" {
      path    = «"/etc/hostname"»
      content = "demo\n"
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
    write_file_if_changed "hostname" {
      path    = "/etc/hostname"
      content = "demo\n"
    }
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineLateFile,
	}
}

// readAtBoot says whether a file has its effect when a system boots.
func readAtBoot(name string) bool {
	switch name {
	case "/etc/hostname", "/etc/machine-id", "/etc/fstab", "/etc/locale.conf", "/etc/vconsole.conf", "/etc/modules":
		return true
	}
	for _, dir := range []string{"tmpfiles.d", "sysusers.d", "modules-load.d", "sysctl.d", "binfmt.d", "environment.d"} {
		if path.Base(path.Dir(name)) == dir {
			return true
		}
	}
	return strings.HasPrefix(name, "/etc/systemd/system.conf") || strings.HasPrefix(name, "/etc/systemd/system-preset/")
}

func checkMachineLateFile(p *lint.Pass) {
	for _, w := range p.Files() {
		if w.Step.Inside && w.Step.Part == "after_boot" && readAtBoot(w.Path) {
			p.ReportStep(w.Step, w.At, "The machine reads %s when it boots, which it has done by now. Move the step to before_boot.", w.Path)
		}
	}
}
