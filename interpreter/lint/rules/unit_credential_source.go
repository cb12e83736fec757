package rules

import (
	"slices"
	"strings"

	"hostler/interpreter/lint"
)

func unitCredentialSource() *lint.Rule {
	return &lint.Rule{
		Name: "unit-credential-source", Summary: "Credential without a source", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "`LoadCredential=NAME` without a path takes what was handed to the system under that name, and if nothing was, the service starts\n" +
			"without it and without a word. With a path a missing file is a failure that can be seen. `ImportCredential=` says that it may be\n" +
			"missing.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    LoadCredential=«token»
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    LoadCredential=token:/etc/demo/token
  EOT
}
`,
		Check: checkUnitCredentialSource,
	}
}

func checkUnitCredentialSource(p *lint.Pass) {
	for _, u := range p.Units() {
		for _, l := range u.All("Service", "LoadCredential", "LoadCredentialEncrypted") {
			set := slices.ContainsFunc(u.All("Service", "SetCredential", "SetCredentialEncrypted"), func(o lint.Line) bool { return strings.HasPrefix(o.Value, l.Value+":") })
			if l.Known() && l.Value != "" && !strings.Contains(l.Value, ":") && !set {
				p.ReportStep(u.Step, l.ValueRange(), "If nobody hands a credential %q to the system, the service starts without it. Write where it comes from: %s=%s:/PATH.", l.Value, l.Key, l.Value)
			}
		}
	}
}
