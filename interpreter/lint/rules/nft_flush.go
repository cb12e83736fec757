package rules

import (
	"path"
	"slices"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func nftFlush() *lint.Rule {
	return &lint.Rule{
		Name: "nft-flush", Summary: "Flush while machines run", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`flush ruleset` takes all rules of the host away, also those that a running machine, a container engine or the site has made. The unit\n" +
			"that does it is not started while a machine runs: `start_unless { machines = […] }`, or an `ExecCondition=` of its own.",
		Bad: `
require_capability "nft" {
  executable = "nft"
}

systemd_unit "flush.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/sbin/nft «flush ruleset»
  EOT
  state   = "started"
  restart = "never"
}
`,
		Good: `
require_capability "nft" {
  executable = "nft"
}

systemd_unit "flush.service" {
  content = <<-EOT
    [Service]
    Type=oneshot
    ExecStart=/usr/sbin/nft flush ruleset
  EOT
  state   = "started"
  restart = "never"
  start_unless {
    machines = ["demo"]
  }
}
`,
		Check: checkNftFlush,
	}
}

func checkNftFlush(p *lint.Pass) {
	for _, u := range p.Units() {
		if len(u.Step.Blocks("start_unless")) > 0 || len(u.All("Service", "ExecCondition")) > 0 || u.Step.Inside || guardedStart(p, u) {
			continue
		}
		for _, c := range u.Commands() {
			if path.Base(c.Argv[0]) != "nft" {
				continue
			}
			if strings.Contains(strings.Join(c.Argv, " "), "flush ruleset") {
				p.ReportStep(u.Step, c.Find("flush ruleset"), "The rules of machines that run are flushed too. Write start_unless { machines = […] }, or an ExecCondition= that asks for them.")
			}
			for _, w := range p.Files() {
				text, known := w.Text()
				if known && strings.Contains(text.Text, "flush ruleset") && slices.Contains(c.Argv, w.Path) {
					p.ReportStep(u.Step, c.Find(w.Path), "%s flushes all rules, those of machines that run too. Write start_unless { machines = […] }, or an ExecCondition= that asks for them.", w.Path)
				}
			}
		}
	}
	p.Argvs(func(s *eval.Inspected, arg eval.Arg, words []lint.Word) {
		if len(words) > 2 && path.Base(words[0].Text) == "nft" && words[1].Text == "flush" && words[2].Text == "ruleset" && s.Type.Name == "command" {
			p.ReportStep(s, arg.Range, "All rules of the host are flushed in every run. Let a unit with a guard do it, or delete the table that is yours.")
		}
	})
}

// guardedStart says that another step starts the unit, with a guard.
func guardedStart(p *lint.Pass, u *lint.Unit) bool {
	start := starter(p, u)
	return start != nil && len(start.Blocks("start_unless")) > 0
}
