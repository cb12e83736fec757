package rules

import (
	"slices"

	"hostler/interpreter/lint"
)

func unitExit69() *lint.Rule {
	return &lint.Rule{
		Name: "unit-exit-69", Summary: "Exit code 69 half known", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`hostler` exits with 69 when it stands down because an installation is not finished. A unit that runs it says both\n" +
			"`SuccessExitStatus=69`, so that this is no failure, and `RestartPreventExitStatus=69`, so that it is not started again at once.",
		Bad: `
systemd_unit "site.service" {
  content = <<-EOT
    [Service]
    ExecStart=«/usr/local/bin/hostler» daemon
    SuccessExitStatus=69
    Restart=always
    RestartSec=10s
  EOT
}
`,
		Good: `
systemd_unit "site.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/local/bin/hostler daemon
    SuccessExitStatus=69
    RestartPreventExitStatus=69
    Restart=always
    RestartSec=10s
  EOT
}
`,
		Check: checkUnitExit69,
	}
}

func checkUnitExit69(p *lint.Pass) {
	for _, u := range p.Units() {
		if !u.Closed() || !runsHostler(u, "ensure", "daemon") {
			continue
		}
		for _, key := range []string{"SuccessExitStatus", "RestartPreventExitStatus"} {
			if !slices.Contains(u.Words("Service", key), "69") {
				start, _ := u.Last("Service", "ExecStart")
				p.ReportStep(u.Step, start.Find(u.Commands()[0].Argv[0]), "hostler exits with 69 when it stands down. Write %s=69 too.", key)
			}
		}
	}
}
