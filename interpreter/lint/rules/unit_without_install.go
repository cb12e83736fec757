package rules

import "hostler/interpreter/lint"

func unitWithoutInstall() *lint.Rule {
	return &lint.Rule{
		Name: "unit-without-install", Summary: "No [Install] section", Severity: lint.Error, Profile: lint.Basic,
		Doc: "Enabling makes the links that `[Install]` asks for; without the section there is nothing to make, and the unit does not start at\n" +
			"boot. `systemctl enable` even says nothing with its exit code.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
  EOT
  enable  = «true»
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo

    [Install]
    WantedBy=multi-user.target
  EOT
  enable  = true
}
`,
		Check: checkUnitWithoutInstall,
	}
}

func checkUnitWithoutInstall(p *lint.Pass) {
	for _, u := range p.Units() {
		enable := u.Step.Arg("enable")
		on, _ := enable.Bool()
		if !on || !u.Closed() {
			continue
		}
		for _, key := range []string{"WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also"} {
			if len(u.Words("Install", key)) > 0 {
				on = false
			}
		}
		if on {
			p.Claim(lint.Found(u.Step, enable.Range,
				"The unit has nothing in [Install] that enabling could link it to. Write [Install] with WantedBy=multi-user.target, or leave enable out."), "No [Install] section")
		}
	}
}
