package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func unitDeprecated() *lint.Rule {
	return &lint.Rule{
		Name: "unit-deprecated", Summary: "Deprecated directive", Severity: lint.Warning, Profile: lint.Safe, Fixes: true,
		Doc: "systemd still reads the directive, warns about it, and drops it in a later version. The settings of the first cgroup hierarchy have\n" +
			"no effect on the second, which is the only one from systemd 258 on.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    «MemoryLimit»=1G
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo
    MemoryMax=1G
  EOT
}
`,
		Check: checkUnitDeprecated,
	}
}

// successors are directives with another name that takes the same values.
func successors() map[string]string {
	return map[string]string{
		"MemoryLimit": "MemoryMax", "BlockIOAccounting": "IOAccounting", "BindTo": "BindsTo", "StartLimitInterval": "StartLimitIntervalSec",
		"ReadWriteDirectories": "ReadWritePaths", "ReadOnlyDirectories": "ReadOnlyPaths", "InaccessibleDirectories": "InaccessiblePaths",
		"PropagateReloadTo": "PropagatesReloadTo", "PropagateReloadFrom": "ReloadPropagatedFrom", "OnFailureIsolate": "OnFailureJobMode",
	}
}

// advice says what to write instead of directives without an equal.
func advice(l lint.Line) string {
	switch {
	case l.Key == "CPUShares" || l.Key == "StartupCPUShares":
		return "Write CPUWeight=, whose values go from 1 to 10000 with 100 in the middle."
	case strings.HasPrefix(l.Key, "BlockIO") || strings.HasPrefix(l.Key, "StartupBlockIO"):
		return "Write the directive of the same meaning that begins with IO."
	case l.Key == "PermissionsStartOnly":
		return "Begin the command lines that need root with \"+\"."
	case l.Key == "KillMode" && l.Value == "none":
		return "KillMode=none leaves processes behind that nothing watches. Write KillMode=mixed or process, or leave it out."
	case (l.Key == "StandardOutput" || l.Key == "StandardError") && strings.HasPrefix(l.Value, "syslog"):
		return "Write journal: it is forwarded to a syslog daemon if there is one."
	case l.Key == "RequiresOverridable" || l.Key == "RequisiteOverridable":
		return "Write Requires= or Requisite=."
	}
	return ""
}

func checkUnitDeprecated(p *lint.Pass) {
	names := successors()
	for _, u := range p.Units() {
		for _, l := range u.Lines() {
			next := names[l.Key]
			switch {
			case next != "" && (l.Key != "StartLimitInterval" || l.Section == "Unit"):
				f := lint.Found(u.Step, l.KeyRange(), "%s= is deprecated. Write %s=.", l.Key, next)
				if next != "OnFailureJobMode" && l.Part.Text.Editable(l.Directive.KeyRange.Start.Byte, l.Directive.KeyRange.End.Byte) {
					f = f.With(lint.Fix{Message: "write " + next, Edits: []lint.Edit{{Range: l.KeyRange(), Text: next}}, Changes: true})
				}
				p.Report(f)
			case next == "" && advice(l) != "":
				p.ReportStep(u.Step, l.KeyRange(), "%s= is deprecated. %s", l.Key, advice(l))
			}
		}
	}
}
