package rules

import (
	"slices"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

func supportsUnknownOs() *lint.Rule {
	return &lint.Rule{
		Name: "supports-unknown-os", Summary: "No such system known", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "The `id` is that of the host's `/etc/os-release`: lower case, and not the name that people use. `\"ubunut\"` or `\"Debian\"` matches no\n" +
			"host, and the recipe is refused everywhere.",
		Bad: `
recipe "demo" {
  language = 1
  version  = "1.0.0"

  supports "ubuntu" {
    id = «"Ubuntu"»
  }
}
`,
		Good: `
recipe "demo" {
  language = 1
  version  = "1.0.0"

  supports "ubuntu" {
    id = "ubuntu"
  }
}
`,
		Check: checkSupportsUnknownOS,
	}
}

func checkSupportsUnknownOS(p *lint.Pass) {
	known := lint.KnownSystems()
	for _, s := range p.Supports() {
		if s.ID == "" || slices.Contains(known, s.ID) {
			continue
		}
		// Names that are near none are those of systems we have not heard of.
		if near := syntax.Suggest(s.ID, known); near != "" {
			p.Reportf(s.Range("id"), "No system has the id %q in its os-release. Did you mean %q?", s.ID, near)
		}
	}
}
