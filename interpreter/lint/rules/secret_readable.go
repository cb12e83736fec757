package rules

import "hostler/interpreter/lint"

func secretReadable() *lint.Rule {
	return &lint.Rule{
		Name: "secret-readable", Summary: "Secret that everybody reads", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The content is made of a sensitive value and the file's mode lets every user of the host read it. The default mode is `\"0644\"`.\n" +
			"A private key has to be `\"0600\"`, or readable by the group of the service that needs it.",
		Bad: `
variable "token" {
  type      = string
  sensitive = true
}

write_file_if_changed "token" {
  path    = "/etc/demo/token"
  content = «var.token»
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
		Check: checkSecretReadable,
	}
}

func checkSecretReadable(p *lint.Pass) {
	for _, s := range p.Steps("write_file_if_changed") {
		mode, ok := lint.ModeOf(s.Arguments)
		if !ok || mode&0o004 == 0 {
			continue
		}
		for _, name := range []string{"content", "content_base64"} {
			if arg := s.Arg(name); arg.Sensitive {
				p.ReportStep(s, arg.Range, "The content is secret and the mode \"%#04o\" lets every user of the host read it. Write mode = \"0600\".", mode)
			}
		}
	}
}
