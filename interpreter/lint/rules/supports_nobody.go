package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func supportsNobody() *lint.Rule {
	return &lint.Rule{
		Name: "supports-nobody", Summary: "Versions nobody has", Severity: lint.Error, Profile: lint.Basic,
		Doc: "No version meets all conditions of the range, so that no host ever matches the block. All conditions of one `version_id` hold\n" +
			"together; for one range *or* another write two blocks.",
		Bad: `
recipe "demo" {
  language = 1
  version  = "1.0.0"

  supports "ubuntu" {
    id         = "ubuntu"
    version_id = «">= 24.04, < 22.04"»
  }
}
`,
		Good: `
recipe "demo" {
  language = 1
  version  = "1.0.0"

  supports "ubuntu" {
    id         = "ubuntu"
    version_id = ">= 22.04, < 24.05"
  }
}
`,
		Check: checkSupportsNobody,
	}
}

func checkSupportsNobody(p *lint.Pass) {
	for _, s := range p.Supports() {
		if s.VersionID == "" {
			continue
		}
		if ok, err := eval.Satisfiable(s.VersionID); err == nil && !ok {
			p.Reportf(s.Range("version_id"), "No version meets all of %q, so no host matches. Turn the conditions round, or write two supports blocks.", s.VersionID)
		}
	}
	if header := p.Header(); header != nil && header.Body.Attributes["interpreter"] != nil {
		if ok, err := eval.Satisfiable(p.Recipe.Header().Interpreter); err == nil && !ok {
			p.Reportf(header.Body.Attributes["interpreter"].Expr.Range(), "No interpreter meets all of %q. Turn the conditions round.", p.Recipe.Header().Interpreter)
		}
	}
}
