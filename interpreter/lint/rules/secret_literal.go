package rules

import (
	"bytes"
	"regexp"

	"hostler/interpreter/lint"
)

func secretLiteral() *lint.Rule {
	return &lint.Rule{
		Name: "secret-literal", Summary: "Secret in the recipe", Severity: lint.Error, Profile: lint.Basic,
		Doc: "A recipe is copied, reviewed and stored on every host: what is written in it is no secret any more. Declare a sensitive variable\n" +
			"without a default, and give the value in an inputs file or as a systemd credential.",
		Bad: `
variable "token" {
  type      = string
  sensitive = true
  default   = «"9d5ed678fe57bcca610140957afab571"»
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.token
}
`,
		Good: `
variable "token" {
  type      = string
  sensitive = true
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  mode    = "0600"
  content = var.token
}
`,
		Check: checkSecretLiteral,
	}
}

func checkSecretLiteral(p *lint.Pass) {
	sensitive := map[string]bool{}
	for _, v := range p.Recipe.Variables() {
		sensitive[v.Name] = v.Sensitive
	}
	for _, b := range p.Blocks("variable") {
		a := b.Body.Attributes["default"]
		if len(b.Labels) != 1 || !sensitive[b.Labels[0]] || a == nil {
			continue
		}
		if text, ok := lint.Literal(a.Expr); ok && text != "" {
			f := lint.Finding{Range: a.Expr.Range(), Detail: "The default of a sensitive variable is written in the recipe, where it is no secret. Leave it out, or write default = null."}
			p.Report(f.Hidden())
		}
	}
	key := regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	if !bytes.Contains(p.File.Bytes, []byte("PRIVATE KEY-----")) {
		return
	}
	for _, m := range key.FindAllIndex(p.File.Bytes, -1) {
		p.Reportf(p.Span(m[0], m[1]), "A private key that stands in a recipe is no secret any more. Make a new one, and give it as the value of a sensitive variable.")
	}
}
