package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func scriptNotExecutable() *lint.Rule {
	return &lint.Rule{
		Name: "script-not-executable", Summary: "Script that cannot run", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "The content begins with `#!`, and the mode lets nobody execute the file: a unit that starts it fails with 203/EXEC.",
		Bad: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  content = «"#!/bin/sh\nexit 0\n"»
}
`,
		Good: `
write_file_if_changed "tool" {
  path    = "/opt/demo/tool"
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Check: checkScriptNotExecutable,
	}
}

func checkScriptNotExecutable(p *lint.Pass) {
	for _, w := range p.Files() {
		mode, ok := w.Mode()
		text, known := w.Text()
		if !ok || !known || mode&0o111 != 0 || !strings.HasPrefix(text.Text, "#!/") {
			continue
		}
		at := text.At()
		if arg := w.Step.Arg("mode"); arg.Written() {
			at = arg.Range
		}
		p.ReportStep(w.Step, at, "The file is a script, and the mode \"%#04o\" lets nobody run it. Write mode = \"0755\".", mode)
	}
}
