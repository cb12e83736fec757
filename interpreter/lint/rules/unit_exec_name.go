package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func unitExecName() *lint.Rule {
	return &lint.Rule{
		Name: "unit-exec-name", Summary: "Program without its path", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "systemd looks a bare name up in a list that was fixed when it was compiled, not in `$PATH`. `/opt` is not in it, and `/usr/local/bin`\n" +
			"comes before `/usr/bin`: which program runs depends on the host.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=«demo» --port 80
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo --port 80
  EOT
}
`,
		Check: checkUnitExecName,
	}
}

func checkUnitExecName(p *lint.Pass) {
	for _, u := range p.Units() {
		if _, own := u.Last("Service", "ExecSearchPath"); own {
			continue
		}
		for _, c := range u.Commands() {
			name := c.Argv[0]
			if !strings.ContainsAny(name, "/%$") && !lint.Holes(name) {
				p.ReportStep(u.Step, c.Find(name), "systemd looks %q up in a fixed list of directories. Write the absolute path of the program.", name)
			}
		}
	}
}
