package rules

import (
	"regexp"

	"hostler/interpreter/lint"
)

func secretNotSensitive() *lint.Rule {
	return &lint.Rule{
		Name: "secret-not-sensitive", Summary: "Variable not marked sensitive", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "By its name the variable holds a secret. Without `sensitive = true` its value is shown in plans, diffs and logs, and stored in the\n" +
			"state of the installation.",
		Bad: `
variable «"api_token"» {
  type = string
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.api_token
}
`,
		Good: `
variable "api_token" {
  type      = string
  sensitive = true
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.api_token
}
`,
		Check: checkSecretNotSensitive,
	}
}

func checkSecretNotSensitive(p *lint.Pass) {
	name := regexp.MustCompile(`(?i)(^|_)(password|passwd|secret|token|private_key|api_?key|passphrase)$`)
	sensitive := map[string]bool{}
	for _, v := range p.Recipe.Variables() {
		sensitive[v.Name] = v.Sensitive
	}
	for _, b := range p.Blocks("variable") {
		if len(b.Labels) == 1 && name.MatchString(b.Labels[0]) && !sensitive[b.Labels[0]] {
			p.Reportf(b.LabelRanges[0], "The value of %q would be shown in plans and stored. Write sensitive = true.", b.Labels[0])
		}
	}
}
