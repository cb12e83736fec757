package rules

import "hostler/interpreter/lint"

func recipeUntested() *lint.Rule {
	return &lint.Rule{
		Name: "recipe-untested", Summary: "Recipe without tests", Severity: lint.Warning, Profile: lint.Strict,
		Doc: "There is no `tests/*.test.hcl` beside the recipe. One test with a described host runs the recipe and its reset in memory, in\n" +
			"milliseconds, and the laws come for free: the second run changes nothing, a crash anywhere converges, reset restores the host.",
		Bad: `
«recipe "demo"» {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "debian" {
    id = "debian"
  }
}
-- untested --
`,
		Good: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "debian" {
    id = "debian"
  }
}
-- tests/demo.test.hcl --
test "comes up" {
  host {}
  run "apply" {}
}
`,
		Check: checkRecipeUntested,
	}
}

func checkRecipeUntested(p *lint.Pass) {
	if header := p.Header(); header != nil && !p.Tested {
		p.Reportf(header.DefRange(), "The recipe has no tests/*.test.hcl. Write one with a described host and run \"apply\"; \"hostler init\" makes a first one.")
	}
}
