package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func setuidFile() *lint.Rule {
	return &lint.Rule{
		Name: "setuid-file", Summary: "Runs as its owner", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "A file with the set-user-ID or set-group-ID bit runs with the rights of its owner for whoever starts it. The bits have no effect\n" +
			"on scripts. If a program needs more rights, a unit with `AmbientCapabilities=` gives it exactly these.",
		Bad: `
write_file_if_changed "tool" {
  path   = "/opt/demo/tool"
  mode   = «"04755"»
  source = "files/tool"
}
-- files/tool --
#!/bin/sh
exit 0
`,
		Good: `
write_file_if_changed "tool" {
  path   = "/opt/demo/tool"
  mode   = "0755"
  source = "files/tool"
}
-- files/tool --
#!/bin/sh
exit 0
`,
		Check: checkSetuidFile,
	}
}

func checkSetuidFile(p *lint.Pass) {
	p.EachArg(func(s *eval.Inspected, a *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Name != "mode" || s.Type.Name == "directory" {
			return
		}
		if mode, ok := lint.ModeOf(a); ok && mode&0o6000 != 0 {
			p.ReportStep(s, arg.Range, "Whoever starts the file gets the rights of its owner or group. Leave the bit out, and give a unit the capability that it needs.")
		}
	})
}
