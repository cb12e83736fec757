package rules

import (
	"hostler/interpreter/lint"
)

func directoryAfterFile() *lint.Rule {
	return &lint.Rule{
		Name: "directory-after-file", Summary: "Directory made too late", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "An earlier step writes into the directory, which makes it with the mode `\"0755\"`; until this step runs everybody may read what is in\n" +
			"it. Write the directory first.",
		Bad: `
write_file_if_changed "key" {
  path    = "/etc/demo/keys/a"
  mode    = "0600"
  content = "a\n"
}

directory "keys" {
  path = «"/etc/demo/keys"»
  mode = "0700"
}
`,
		Good: `
directory "keys" {
  path = "/etc/demo/keys"
  mode = "0700"
}

write_file_if_changed "key" {
  path    = "/etc/demo/keys/a"
  mode    = "0600"
  content = "a\n"
}
`,
		Check: checkDirectoryAfterFile,
	}
}

func checkDirectoryAfterFile(p *lint.Pass) {
	for _, dir := range p.Written() {
		if dir.Step.Type.Name != "directory" {
			continue
		}
		for _, w := range p.Written() {
			if w.Step.Order < dir.Step.Order && w.Step.Type.Name != "absent" && lint.SamePlace(w.Step, dir.Step) && lint.Below(w.Path, dir.Path) {
				p.ReportStep(dir.Step, dir.At, "%s at line %d writes %s before this directory has its mode and owner. Move the directory before it.", w.Step.Address, w.Step.Header.Start.Line, w.Path)
				break
			}
		}
	}
}
