package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func carriageReturn() *lint.Rule {
	return &lint.Rule{
		Name: "carriage-return", Summary: "Windows line ends", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The file has a carriage return at the end of lines: a script with one in its first line is \"not found\", as the kernel looks for an\n" +
			"interpreter with it in its name. In the recipe itself line ends are always read as newlines, however it was checked out; an asset\n" +
			"is written byte for byte. Add `* text=auto eol=lf` to `.gitattributes`.",
		Bad: `
write_file_if_changed "tool" {
  path   = "/opt/demo/tool"
  mode   = "0755"
  source = "files/tool"
}
-- files/tool --
«#!/bin/sh»␍
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
		Check: checkCarriageReturn,
	}
}

func checkCarriageReturn(p *lint.Pass) {
	for _, w := range p.Files() {
		if text, ok := w.Text(); ok {
			if i := strings.Index(text.Text, "\r\n"); i >= 0 && !strings.ContainsRune(text.Text, 0) {
				p.ReportStep(w.Step, text.Range(strings.LastIndexByte(text.Text[:i], '\n')+1, i), "The line ends in a carriage return, which is written to %s. Save the file with newlines alone.", w.Path)
			}
		}
	}
	for _, u := range p.Units() {
		for _, part := range u.Parts {
			if i := strings.IndexByte(part.Text.Text, '\r'); i >= 0 && u.Step.Type.Name == "systemd_unit" {
				p.ReportStep(u.Step, part.Text.Range(strings.LastIndexByte(part.Text.Text[:i], '\n')+1, i), "The line ends in a carriage return. Save the file with newlines alone.")
			}
		}
	}
}
