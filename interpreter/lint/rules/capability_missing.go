package rules

import (
	"path"
	"slices"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func capabilityMissing() *lint.Rule {
	return &lint.Rule{
		Name: "capability-missing", Summary: "Program that may be missing", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "The recipe runs a program that not every host has, and does not say so: on a host without it the run stops half way. With\n" +
			"`require_capability` it is found missing before anything is changed, and on a mutable host installed.",
		Bad: `
command "seed" {
  argv    = [«"jq"», "--version"]
  creates = "/var/lib/demo/seed"
}

reset_step "seed" {
  remove_path {
    path = "/var/lib/demo/seed"
  }
}
`,
		Good: `
require_capability "jq" {
  executable = "jq"
  packages   = { apt = ["jq"] }
}

command "seed" {
  argv    = ["jq", "--version"]
  creates = "/var/lib/demo/seed"
}

reset_step "seed" {
  remove_path {
    path = "/var/lib/demo/seed"
  }
}
`,
		Check: checkCapabilityMissing,
	}
}

// everywhere are programs that every host with systemd has.
func everywhere() []string {
	return []string{
		"sh", "env", "true", "false", "test", "cat", "cp", "mv", "rm", "ln", "mkdir", "chmod", "chown", "mount", "umount", "grep", "sed", "awk",
		"find", "sort", "head", "tail", "sleep", "date", "id", "getent", "stat", "uname", "systemctl", "journalctl", "systemd-tmpfiles",
		"systemd-sysusers", "systemd-run", "systemd-escape", "udevadm", "sysctl", "modprobe", "ldconfig", "hostler", "ls", "touch", "tee", "wc", "echo", "printf",
	}
}

func checkCapabilityMissing(p *lint.Pass) {
	asked, whole := required(p)
	if !whole {
		return
	}
	have := append(asked, everywhere()...)
	made := map[string]bool{}
	for _, w := range p.Written() {
		made[w.Path] = true
	}
	p.Argvs(func(s *eval.Inspected, _ eval.Arg, words []lint.Word) {
		program := words[0].Text
		if program != "" && !s.Inside && !slices.Contains(have, program) && !slices.Contains(have, path.Base(program)) && !made[program] && s.Type.Name == "command" {
			p.ReportStep(s, words[0].Expr.Range(), "Not every host has %s. Write require_capability { executable = %q }.", program, path.Base(program))
		}
	})
	for _, m := range p.Steps("nspawn_machine") {
		if !slices.Contains(asked, "systemd-nspawn") {
			p.ReportStep(m, m.Header, "Not every host has systemd-nspawn, which is in a package of its own on most. Write require_capability { executable = \"systemd-nspawn\" }.")
		}
	}
}

// required are the programs that the recipe, or one that it uses, asks for;
// whole is false when some are not known.
func required(p *lint.Pass) (names []string, whole bool) {
	whole = true
	for _, s := range p.Inspection.Steps {
		if s.Type.Name != "require_capability" {
			continue
		}
		if one, ok := s.Arg("executable").Text(); ok {
			names = append(names, one, path.Base(one))
		} else if s.Arg("executable").Written() {
			whole = false
		}
		if s.Arg("executables").Written() {
			list, known := s.Arg("executables").Texts()
			names, whole = append(names, list...), whole && known
		}
	}
	return names, whole
}
