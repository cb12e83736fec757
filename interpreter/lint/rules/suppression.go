package rules

import "hostler/interpreter/lint"

func suppression() *lint.Rule {
	return &lint.Rule{
		Name: "suppression", Summary: "Comment answers nothing", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`# hostler:ignore RULE reason` on the line of, or above, an argument or block says that a finding is right there. The reason is\n" +
			"required, the rule has to exist, and a comment where the rule finds nothing any more is to go. What validation finds cannot be\n" +
			"ignored.",
		Bad: `
directory "data" {
  «# hostler:ignore world-writable it was shared once»
  path = "/var/lib/demo"
}
`,
		Good: `
directory "data" {
  path = "/var/lib/demo"
  mode = "0777" # hostler:ignore world-writable the file system is mounted for one user
}
`,
	}
}
