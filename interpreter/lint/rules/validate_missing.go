package rules

import (
	"path"

	"hostler/interpreter/lint"
)

func validateMissing() *lint.Rule {
	return &lint.Rule{
		Name: "validate-missing", Summary: "Mistake locks everybody out", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "A fault in this file takes the way into the host away: sudo refuses to work at all, sshd does not start again. `validate` runs the\n" +
			"program's own check over the new file before it is put in place.",
		Bad: `
write_file_if_changed "operators" {
  path    = «"/etc/sudoers.d/operators"»
  mode    = "0440"
  content = "%operators ALL=(ALL) ALL\n"
}
`,
		Good: `
write_file_if_changed "operators" {
  path     = "/etc/sudoers.d/operators"
  mode     = "0440"
  content  = "%operators ALL=(ALL) ALL\n"
  validate = ["visudo", "-cf", "{}"]
}
`,
		Check: checkValidateMissing,
	}
}

// checkerOf is a command that checks a file, "" when none is known.
func checkerOf(name string) string {
	switch {
	case name == "/etc/sudoers" || path.Dir(name) == "/etc/sudoers.d":
		return `["visudo", "-cf", "{}"]`
	case name == "/etc/ssh/sshd_config":
		return `["sshd", "-t", "-f", "{}"]`
	}
	return ""
}

func checkValidateMissing(p *lint.Pass) {
	for _, w := range p.Files() {
		if checker := checkerOf(w.Path); checker != "" && !w.Step.Arg("validate").Written() {
			p.ReportStep(w.Step, w.At, "A fault in %s locks everybody out. Write validate = %s.", w.Path, checker)
		}
	}
}
