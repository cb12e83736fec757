package rules

import (
	"hostler/interpreter/lint"
)

func constantOutput() *lint.Rule {
	return &lint.Rule{
		Name: "constant-output", Summary: "Output that never changes", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "An output gives what a run made or worked out. A constant says nothing that the recipe does not say: use it where it is written, or\n" +
			"give the value that was meant.",
		Bad: `
output "port" {
  value = «"80"»
}
`,
		Good: `
directory "data" {
  path = "/var/lib/demo"
}

output "data" {
  value = directory.data.path
}
`,
		Check: checkConstantOutput,
	}
}

func checkConstantOutput(p *lint.Pass) {
	for _, b := range p.Blocks("output") {
		a := b.Body.Attributes["value"]
		if a == nil || len(a.Expr.Variables()) > 0 {
			continue
		}
		if v, sensitive := p.Inspection.Eval(a.Expr); v.IsWhollyKnown() && !sensitive {
			p.Reportf(a.Expr.Range(), "The value is the same for every host and every input. Give one that the run makes, or remove the output.")
		}
	}
}
