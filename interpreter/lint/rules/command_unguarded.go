package rules

import "hostler/interpreter/lint"

func commandUnguarded() *lint.Rule {
	return &lint.Rule{
		Name: "command-unguarded", Summary: "Command without a guard", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "Without `creates` or `unless` nobody can tell whether the command has to run: it runs in every `apply` and every repair, and a plan\n" +
			"says \"unknown\".",
		Bad: `
«command "seed"» {
  argv = ["touch", "/var/lib/demo/seed"]
}

reset_step "seed" {
  remove_path {
    path = "/var/lib/demo/seed"
  }
}
`,
		Good: `
command "seed" {
  argv    = ["touch", "/var/lib/demo/seed"]
  creates = "/var/lib/demo/seed"
}

reset_step "seed" {
  remove_path {
    path = "/var/lib/demo/seed"
  }
}
`,
		Check: checkCommandUnguarded,
	}
}

func checkCommandUnguarded(p *lint.Pass) {
	for _, s := range p.Steps("command") {
		if !s.Arg("creates").Written() && !s.Arg("unless").Written() {
			p.ReportStep(s, s.Header, "Nothing says when the command need not run. Write creates = \"PATH\", or unless = [\"COMMAND\", …].")
		}
	}
}
