package rules

import (
	"slices"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func watchWithoutEffect() *lint.Rule {
	return &lint.Rule{
		Name: "watch-without-effect", Summary: "Watch without effect", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "Only changed bytes fire a restart: a directory, a check or a machine has none that the unit could read, and a step that is watched\n" +
			"twice counts once.",
		Bad: `
directory "config" {
  path = "/etc/demo"
}

write_file_if_changed "config" {
  path    = "/etc/demo/demo.conf"
  content = "port = 80\n"
}

restart_on_change "demo.service" {
  watch = [«directory.config», write_file_if_changed.config]
}
`,
		Good: `
directory "config" {
  path = "/etc/demo"
}

write_file_if_changed "config" {
  path    = "/etc/demo/demo.conf"
  content = "port = 80\n"
}

restart_on_change "demo.service" {
  watch = [write_file_if_changed.config]
}
`,
		Check: checkWatchWithoutEffect,
	}
}

func checkWatchWithoutEffect(p *lint.Pass) {
	idle := []string{"directory", "require_capability", "restart_on_change", "reset_step", "wait_for", "nspawn_machine"}
	for _, s := range p.Steps("restart_on_change") {
		var seen []*eval.Inspected
		for _, ref := range s.Refs("watch") {
			if len(ref.Steps) == 0 {
				continue
			}
			first := ref.Steps[0]
			twice := !slices.ContainsFunc(ref.Steps, func(o *eval.Inspected) bool { return !slices.Contains(seen, o) })
			switch {
			case slices.Contains(idle, first.Type.Name):
				p.ReportStep(s, ref.Range, "A change of a %s never restarts anything. Watch the files that the unit reads.", first.Type.Name)
			case twice:
				p.ReportStep(s, ref.Range, "%s is watched already. Leave it out.", first.Address)
			}
			seen = append(seen, ref.Steps...)
		}
	}
}
