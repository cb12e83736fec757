package rules

import (
	"slices"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
	"hostler/interpreter/unitfile"
)

func unitUnknownSection() *lint.Rule {
	return &lint.Rule{
		Name: "unit-unknown-section", Summary: "Unknown section", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "systemd ignores a section that it does not know, and one that belongs to another type of unit, with all that is in it. A name that\n" +
			"begins with `X-` is for others to use and always allowed.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    «[unit]»
    Description=Demo

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Description=Demo

    [Service]
    ExecStart=/usr/bin/demo
  EOT
}
`,
		Check: checkUnitUnknownSection,
	}
}

// sectionsOf are the sections that a type of unit has.
func sectionsOf(unitType string) []string {
	list := []string{"Unit", "Install"}
	switch unitType {
	case "target", "device":
		return list
	case "":
		return nil
	}
	return append(list, strings.ToUpper(unitType[:1])+unitType[1:])
}

func checkUnitUnknownSection(p *lint.Pass) {
	for _, u := range p.Units() {
		known := sectionsOf(u.Name.Type)
		for _, part := range u.Parts {
			for _, s := range part.File.Sections {
				if known == nil || slices.Contains(known, s.Name) || strings.HasPrefix(s.Name, "X-") || lint.Holes(s.Name) {
					continue
				}
				unknownSection(p, u.Step, part, s, known)
			}
		}
	}
}

func unknownSection(p *lint.Pass, step *eval.Inspected, part *lint.UnitPart, s *unitfile.Section, known []string) {
	at := part.Range(s.Range)
	near := syntax.Suggest(s.Name, known)
	f := lint.Found(step, at, "systemd ignores the section [%s] with all that is in it; a unit of this type has [%s].", s.Name, strings.Join(known, "], ["))
	if near != "" {
		f.Detail += " Did you mean [" + near + "]?"
		if part.Text.Editable(s.Range.Start.Byte, s.Range.End.Byte) {
			f = f.With(lint.Fix{Message: "write [" + near + "]", Edits: []lint.Edit{{Range: at, Text: "[" + near + "]"}}, Changes: true})
		}
	}
	p.Report(f)
}
