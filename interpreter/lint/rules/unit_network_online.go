package rules

import (
	"slices"

	"hostler/interpreter/lint"
)

func unitNetworkOnline() *lint.Rule {
	return &lint.Rule{
		Name: "unit-network-online", Summary: "Waits for nothing", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`After=network-online.target` orders the unit after the target only if something starts the target, and nothing does by itself. The\n" +
			"unit that needs the network says `Wants=network-online.target` too.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    After=«network-online.target»

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Wants=network-online.target
    After=network-online.target

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Check: checkUnitNetworkOnline,
	}
}

func checkUnitNetworkOnline(p *lint.Pass) {
	const target = "network-online.target"
	for _, u := range p.Units() {
		if !u.Closed() {
			continue
		}
		for _, l := range u.All("Unit", "After") {
			if slices.Contains(l.Words(), target) && !pulls(u, target) {
				p.ReportStep(u.Step, l.Find(target), "Nothing starts %s by itself, so the unit does not wait for the network. Write Wants=%s too.", target, target)
			}
		}
	}
}

// pulls says whether the unit makes another one start.
func pulls(u *lint.Unit, other string) bool {
	return slices.ContainsFunc([]string{"Wants", "Requires", "BindsTo", "Upholds", "Requisite", "PartOf"}, func(key string) bool {
		return slices.Contains(u.Words("Unit", key), other)
	})
}
