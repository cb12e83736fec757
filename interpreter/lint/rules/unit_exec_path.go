package rules

import (
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/unitfile"
)

func unitExecPath() *lint.Rule {
	return &lint.Rule{
		Name: "unit-exec-path", Summary: "Command systemd refuses", Severity: lint.Error, Profile: lint.Basic,
		Doc: "A command line begins with an absolute path, or with a bare name that systemd looks up. A relative path, a directory and a quote\n" +
			"that is not closed make systemd refuse the line: \"Unit has a bad unit file setting\".",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=«bin/demo --port 80»
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/opt/demo/bin/demo --port 80
  EOT
}
`,
		Check: checkUnitExecPath,
	}
}

func checkUnitExecPath(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			if !strings.HasPrefix(l.Key, "Exec") || l.Value == "" || strings.HasPrefix(strings.TrimLeft(l.Value, "@-:+!|"), string(lint.Hole)) {
				continue
			}
			if _, ok := unitfile.Known(l.Section, l.Key); !ok || l.Key == "ExecSearchPath" || l.Key == "ExecPaths" {
				continue
			}
			if _, err := unitfile.SplitExecs(l.Value); err != nil {
				p.ReportStep(u.Step, l.ValueRange(), "systemd refuses %s=: %s.", l.Key, strings.TrimSuffix(err.Error(), "."))
			}
		}
	}
}
