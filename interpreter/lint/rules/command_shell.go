package rules

import (
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func commandShell() *lint.Rule {
	return &lint.Rule{
		Name: "command-shell", Summary: "Shell in a command", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "Command lines are lists so that no value is ever read by a shell. `[\"sh\", \"-c\", \"… ${var.x}\"]` brings that back: a value with a\n" +
			"blank, a quote or a semicolon becomes another command. Pass values as arguments after the script: `[\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\",\n" +
			"var.x]`.",
		Bad: `
variable "name" {
  type    = string
  default = "a"
}

wait_for "demo" {
  command = ["/bin/sh", "-c", «"test -e /run/${var.name}"»]
}
`,
		Good: `
variable "name" {
  type    = string
  default = "a"
}

wait_for "demo" {
  command = ["/bin/sh", "-c", "test -e \"/run/$1\"", "sh", var.name]
}
`,
		Check: checkCommandShell,
	}
}

func checkCommandShell(p *lint.Pass) {
	p.Argvs(func(s *eval.Inspected, _ eval.Arg, words []lint.Word) {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = w.Text
		}
		for i := 1; i < len(texts)-1; i++ {
			if texts[i] == "-c" && texts[0] != "" && isShell(texts) && len(words[i+1].Expr.Variables()) > 0 {
				p.ReportStep(s, words[i+1].Expr.Range(), "The shell reads the value as part of the script. Pass it as an argument after the script, where it is \"$1\".")
			}
		}
	})
}
