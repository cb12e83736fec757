package rules

import (
	"regexp"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func secretInArgv() *lint.Rule {
	return &lint.Rule{
		Name: "secret-in-argv", Summary: "Secret on command line", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The arguments of a process are seen by every user of the host, in `/proc` and in the journal. A program takes a secret from a file\n" +
			"that only it may read, or from a credential of its unit (`LoadCredential=`).",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo «--password=hunter2» --port 80
  EOT
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo --password-file=/etc/demo/password --port 80
  EOT
}
`,
		Check: checkSecretInArgv,
	}
}

// secretOption matches an option that carries a secret in the same word, or in
// the next one.
func secretOption() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^--?(?:[a-z0-9-]*[-_])?(?:password|passwd|secret|token|api[-_]?key)(=.+)?$`)
}

func checkSecretInArgv(p *lint.Pass) {
	option := secretOption()
	p.Argvs(func(s *eval.Inspected, arg eval.Arg, words []lint.Word) {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = w.Text
			if w.Sensitive {
				p.Claim(lint.Found(s, w.Expr.Range(), "Every user of the host can read the arguments of a process. Write the secret into a file with mode \"0600\" and name the file."), "Sensitive value here")
			}
		}
		if i := secretWord(option, texts); i >= 0 && !words[i].Sensitive {
			p.Report(lint.Found(s, words[i].Expr.Range(), "Every user of the host can read the arguments of a process. Name a file with the secret instead.").Hidden())
		}
	})
	for _, u := range p.Units() {
		for _, c := range u.Commands() {
			if i := secretWord(option, c.Argv); i >= 0 {
				p.Report(lint.Found(u.Step, c.Find(c.Argv[i]), "Every user of the host can read the arguments of a process. Name a file with the secret instead, or use LoadCredential=.").Hidden())
			}
		}
	}
}

// secretWord is the place of a word that holds a secret, -1 if none does.
func secretWord(option *regexp.Regexp, words []string) int {
	for i, w := range words {
		m := option.FindStringSubmatch(w)
		switch {
		case m == nil:
		case m[1] != "" && !reference(m[1][1:]):
			return i
		case m[1] == "" && i+1 < len(words) && words[i+1] != "" && !strings.HasPrefix(words[i+1], "-") && !reference(words[i+1]):
			return i + 1
		}
	}
	return -1
}

// reference says that a word is no secret but says where it is.
func reference(word string) bool {
	return word == "" || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "$") || strings.HasPrefix(word, "%") || strings.HasPrefix(word, "@")
}
