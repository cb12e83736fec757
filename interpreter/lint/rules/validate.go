package rules

import "hostler/interpreter/lint"

func validate() *lint.Rule {
	return &lint.Rule{
		Name: "validate", Summary: "Recipe that is invalid", Severity: lint.Error, Profile: lint.Basic,
		Doc: "What `hostler validate` reports: the recipe cannot be run as it is. It is always reported, whatever the profile, the configuration and\n" +
			"comments say. Where a rule knows more about a fault, its finding stands in the place of this one.",
		Bad: `
directory "data" {
  «paht» = "/var/lib/demo"
  path = "/var/lib/demo"
}
`,
		Good: `
directory "data" {
  path = "/var/lib/demo"
}
`,
	}
}
