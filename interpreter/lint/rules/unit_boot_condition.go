package rules

import (
	"path"
	"slices"
	"strings"

	"hostler/interpreter/lint"
)

func unitBootCondition() *lint.Rule {
	return &lint.Rule{
		Name: "unit-boot-condition", Summary: "Condition on boot unit", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "The unit that runs `hostler ensure` decides by itself what there is to do, from the record: a finished host is looked at and repaired.\n" +
			"With `ConditionFirstBoot=` or a stamp file it is skipped, as if with success, on the boot after an attempt that failed.",
		Bad: `
systemd_unit "site.service" {
  content = <<-EOT
    [Unit]
    «ConditionPathExists»=!/var/lib/site/done

    [Service]
    Type=oneshot
    ExecStart=/usr/local/bin/hostler ensure
    TimeoutStartSec=1h
    SuccessExitStatus=69
    RestartPreventExitStatus=69
  EOT
}
`,
		Good: `
systemd_unit "site.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/local/bin/hostler ensure
    TimeoutStartSec=1h
    SuccessExitStatus=69
    RestartPreventExitStatus=69
  EOT
}
`,
		Check: checkUnitBootCondition,
	}
}

// runsHostler says whether a unit runs the interpreter, and with which of its
// commands.
func runsHostler(u *lint.Unit, verbs ...string) bool {
	return slices.ContainsFunc(u.Commands(), func(c lint.Command) bool {
		return c.Key == "ExecStart" && path.Base(c.Argv[0]) == "hostler" && len(c.Argv) > 1 && slices.Contains(verbs, c.Argv[1])
	})
}

func checkUnitBootCondition(p *lint.Pass) {
	for _, u := range p.Units() {
		if !runsHostler(u, "ensure", "apply") {
			continue
		}
		for _, l := range u.Lines() {
			if l.Section == "Unit" && (strings.HasPrefix(l.Key, "Condition") || strings.HasPrefix(l.Key, "Assert")) {
				p.ReportStep(u.Step, l.KeyRange(), "A boot where the condition does not hold is skipped, and an attempt that failed is never finished. Leave it out: a finished host is only looked at.")
			}
		}
	}
}
