package rules

import (
	"regexp"

	"hostler/interpreter/lint"
)

func unitExecDollar() *lint.Rule {
	return &lint.Rule{
		Name: "unit-exec-dollar", Summary: "Variable systemd replaces first", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "In a command line systemd replaces `${NAME}` by the unit's environment before the program sees it, inside quotes too. A variable that\n" +
			"the script in `sh -c` sets itself is empty then. `$$` stands for one dollar sign.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/bin/sh -c 'n=1; echo $«${n}»'
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/bin/sh -c 'n=1; echo $$$${n}'
  EOT
}
`,
		Check: checkUnitExecDollar,
	}
}

func checkUnitExecDollar(p *lint.Pass) {
	variable := regexp.MustCompile(`(^|[^$])(\$\{([A-Za-z_][A-Za-z0-9_]*)\})`)
	for _, u := range p.Units() {
		known, open := environment(u)
		if open {
			continue
		}
		for _, c := range u.Commands() {
			if !isShell(c.Argv) {
				continue
			}
			for _, w := range c.Argv[1:] {
				for _, m := range variable.FindAllStringSubmatch(w, -1) {
					if !known[m[3]] {
						p.ReportStep(u.Step, c.Find(m[2]), "systemd replaces %s by its own environment, which does not have it, before the shell sees it. Write $%s for the shell.", m[2], m[2])
					}
				}
			}
		}
	}
}

// environment is what the unit's commands find in their environment; open says
// that more may come from elsewhere.
func environment(u *lint.Unit) (names map[string]bool, open bool) {
	names = map[string]bool{
		"HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "PATH": true, "LANG": true, "INVOCATION_ID": true, "MAINPID": true,
		"RUNTIME_DIRECTORY": true, "STATE_DIRECTORY": true, "CACHE_DIRECTORY": true, "LOGS_DIRECTORY": true, "CONFIGURATION_DIRECTORY": true,
		"CREDENTIALS_DIRECTORY": true, "NOTIFY_SOCKET": true, "WATCHDOG_USEC": true, "SERVICE_RESULT": true, "EXIT_CODE": true, "EXIT_STATUS": true,
	}
	for _, l := range u.All("Service", "Environment", "EnvironmentFile", "PassEnvironment") {
		if l.Key != "Environment" || !l.Known() {
			open = true
			continue
		}
		for _, w := range l.Words() {
			for i := range w {
				if w[i] == '=' {
					names[w[:i]] = true
					break
				}
			}
		}
	}
	return names, open || !u.Own
}
