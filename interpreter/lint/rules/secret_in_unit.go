package rules

import (
	"regexp"
	"strings"

	"hostler/interpreter/lint"
)

func secretInUnit() *lint.Rule {
	return &lint.Rule{
		Name: "secret-in-unit", Summary: "Secret in unit file", Severity: lint.Error, Profile: lint.Basic,
		Doc: "`systemctl show` and `systemctl cat` tell every user what is in a unit, whatever the mode of its file: its environment too. Write\n" +
			"the secret into a file with mode `\"0600\"` and read it with `LoadCredential=` or `EnvironmentFile=`.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    Environment=«DB_PASSWORD=hunter2»
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    EnvironmentFile=/etc/demo/environment
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Check: checkSecretInUnit,
	}
}

func checkSecretInUnit(p *lint.Pass) {
	secret := regexp.MustCompile(`(?i)^[a-z0-9_]*(?:password|passwd|secret|token|api_?key)=(.+)$`)
	for _, u := range p.Units() {
		for _, part := range u.Parts {
			if part.Text.Secret {
				p.ReportStep(u.Step, part.Text.At(), "Every user of the host can read the text of a unit. Move the secret into a file with mode \"0600\" and read it with LoadCredential=.")
			}
		}
		for _, l := range u.All("Service", "Environment", "SetCredential") {
			for _, w := range l.Words() {
				if m := secret.FindStringSubmatch(w); m != nil && !lint.Holes(w) && !strings.HasPrefix(m[1], "/") {
					p.Report(lint.Found(u.Step, l.Find(w), "Every user of the host can read the environment of a unit. Write the secret into a file with mode \"0600\" and use EnvironmentFile= or LoadCredential=.").Hidden())
				}
			}
		}
	}
}
