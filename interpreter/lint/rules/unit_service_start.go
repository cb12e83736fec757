package rules

import (
	"hostler/interpreter/lint"
)

func unitServiceStart() *lint.Rule {
	return &lint.Rule{
		Name: "unit-service-start", Summary: "Service systemd refuses", Severity: lint.Error, Profile: lint.Basic,
		Doc: "A service has exactly one `ExecStart=`; only `Type=oneshot` may have several, or none with an `ExecStop=`. systemd does not load any\n" +
			"other: \"Service has more than one ExecStart= setting\".",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo prepare
    «ExecStart»=/usr/bin/demo run
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStartPre=/usr/bin/demo prepare
    ExecStart=/usr/bin/demo run
  EOT
}
`,
		Check: checkUnitServiceStart,
	}
}

func checkUnitServiceStart(p *lint.Pass) {
	for _, u := range p.Units() {
		if !u.IsService() || !u.Closed() || u.Value("Service", "Type") == "oneshot" {
			continue
		}
		var inForce []lint.Line
		for _, l := range u.All("Service", "ExecStart") {
			if inForce = append(inForce, l); l.Value == "" {
				inForce = nil
			}
		}
		switch {
		case len(inForce) > 1 && inForce[1].Part.DropIn == "":
			p.ReportStep(u.Step, inForce[1].KeyRange(), "This is a second ExecStart=, and only Type=oneshot may have several. Write ExecStartPre= for what comes before, or Type=oneshot.")
		case len(inForce) == 0 && startless(u):
			p.ReportStep(u.Step, u.Main("Service"), "%s has no ExecStart=, and systemd refuses to load it. Write the command that it runs.", u.Text)
		}
	}
}

// startless says that nothing stands in for a missing ExecStart.
func startless(u *lint.Unit) bool {
	_, typed := u.Last("Service", "Type")
	return len(u.Parts[0].File.Sections) > 0 && len(u.All("Service", "ExecStop")) == 0 && len(u.All("Unit", "SuccessAction")) == 0 &&
		(!typed || u.Value("Service", "Type") != "")
}
