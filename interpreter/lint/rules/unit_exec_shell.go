package rules

import (
	"path"
	"slices"
	"strings"

	"hostler/interpreter/lint"
)

func unitExecShell() *lint.Rule {
	return &lint.Rule{
		Name: "unit-exec-shell", Summary: "Shell syntax without shell", Severity: lint.Error, Profile: lint.Basic,
		Doc: "systemd starts programs without a shell: `|`, `>`, `&&` and `$(…)` are handed to the program as arguments. Write the file names or\n" +
			"`StandardOutput=`, one command per line, or a script.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo «>» /var/log/demo.log
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    StandardOutput=append:/var/log/demo.log
  EOT
}
`,
		Check: checkUnitExecShell,
	}
}

func checkUnitExecShell(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, c := range u.Commands() {
			if isShell(c.Argv) {
				continue
			}
			for _, w := range c.Argv[1:] {
				if shellWord(w) && !quotedIn(c.Value, w) {
					p.ReportStep(u.Step, c.Find(w), "systemd runs no shell, so %q is an argument of the program. Write a script, or what systemd has for it.", w)
					break
				}
			}
		}
	}
}

func isShell(argv []string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "env", "ssh", "nsenter", "chroot"}, path.Base(argv[0])) && len(argv) > 1
}

func shellWord(w string) bool {
	return slices.Contains([]string{"|", "||", "&&", "&", ">", ">>", "<", "2>", "2>&1", "&>", "1>&2", ">&2"}, w) ||
		strings.HasPrefix(w, "$(") || strings.HasPrefix(w, "2>") || strings.HasPrefix(w, ">/") || strings.HasPrefix(w, "`")
}

// quotedIn says whether a word stands in quotes, so that it is meant.
func quotedIn(value, word string) bool {
	return strings.Contains(value, "\""+word+"\"") || strings.Contains(value, "'"+word+"'")
}
