package rules

import (
	"slices"

	"hostler/interpreter/lint"
)

func unitDropInExec() *lint.Rule {
	return &lint.Rule{
		Name: "unit-drop-in-exec", Summary: "Command added by drop-in", Severity: lint.Error, Profile: lint.Basic,
		Doc: "Directives that may be repeated add to those of the unit file: a drop-in with `ExecStart=` makes a second one, and systemd refuses\n" +
			"the unit. An empty `ExecStart=` before it takes the first one back.",
		Bad: `
systemd_unit "demo.service" {
  drop_in "10-port.conf" {
    content = <<-EOT
      [Service]
      «ExecStart»=/usr/bin/demo --port 81
    EOT
  }
}
`,
		Good: `
systemd_unit "demo.service" {
  drop_in "10-port.conf" {
    content = <<-EOT
      [Service]
      ExecStart=
      ExecStart=/usr/bin/demo --port 81
    EOT
  }
}
`,
		Check: checkUnitDropInExec,
	}
}

func checkUnitDropInExec(p *lint.Pass) {
	for _, u := range p.Units() {
		if !u.IsService() || u.Value("Service", "Type") == "oneshot" {
			continue
		}
		all := u.All("Service", "ExecStart")
		i := slices.IndexFunc(all, func(l lint.Line) bool { return l.Part.DropIn != "" })
		if i < 0 || all[i].Value == "" || u.Own && i == 0 {
			continue
		}
		p.ReportStep(u.Step, all[i].KeyRange(), "This adds to the ExecStart= of the unit file, and a service has one. Write an empty ExecStart= on the line before.")
	}
}
