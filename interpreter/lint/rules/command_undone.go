package rules

import "hostler/interpreter/lint"

func commandUndone() *lint.Rule {
	return &lint.Rule{
		Name: "command-undone", Summary: "Command nobody undoes", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "What a command does is not owned by anybody, so a reset leaves it behind. A `reset_step` beside it, in the same stage or machine,\n" +
			"undoes it at that place of the backwards walk.",
		Bad: `
«command "seed"» {
  argv    = ["touch", "/var/lib/demo/seed"]
  creates = "/var/lib/demo/seed"
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
		Check: checkCommandUndone,
	}
}

func checkCommandUndone(p *lint.Pass) {
	for _, s := range p.Steps("command") {
		undone := s.Inside // what is in a machine falls with it
		for _, r := range p.Steps("reset_step") {
			undone = undone || lint.SamePlace(r, s) && (r.Stage == s.Stage || r.Stage == "")
		}
		if !undone {
			p.ReportStep(s, s.Header, "A reset does not undo what the command did. Write a reset_step beside it.")
		}
	}
}
