package lint

import (
	"fmt"
	"strings"
)

// RulePage is the reference page of a rule, in Markdown.
func RulePage(r *Rule) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s: %s in the profile `%s`", r.Name, r.Summary, r.Severity, r.Profile)
	if r.Fixes {
		out.WriteString("; `hostler lint --fix` can remove it")
	}
	fmt.Fprintf(&out, ".\n\n%s\n", strings.ReplaceAll(r.Doc, "\n", " "))
	fmt.Fprintf(&out, "\n## Found\n\n%s\n## Right\n\n%s", fence(r.Bad), fence(r.Good))
	if r.Name != ruleValidate && r.Name != ruleSuppression {
		fmt.Fprintf(&out, "\nWhere it is right as it is, say why on the line above:\n\n```hcl\n# hostler:ignore %s the reason\n```\n", r.Name)
	}
	return out.String()
}

// fence is an example as it is shown: without marks, its files one after the
// other.
func fence(text string) string {
	text = strings.NewReplacer("«", "", "»", "", "␍", "\\r").Replace(strings.TrimSpace(text) + "\n")
	var out strings.Builder
	language, body, name := "hcl", "", ""
	flush := func() {
		if strings.TrimSpace(body) == "" {
			return
		}
		if name != "" {
			fmt.Fprintf(&out, "\n`%s`:\n\n", name)
		}
		fmt.Fprintf(&out, "```%s\n%s```\n", language, body)
	}
	for line := range strings.Lines(text) {
		if file, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(file, " --\n") {
			flush()
			name, body, language = strings.TrimSuffix(file, " --\n"), "", ""
			if strings.HasSuffix(name, ".hcl") {
				language = "hcl"
			}
			continue
		}
		body += line
	}
	flush()
	return out.String()
}

// RulesPage is the reference page that lists all rules, in Markdown.
func RulesPage(rules []*Rule) string {
	var out strings.Builder
	out.WriteString(strings.ReplaceAll(rulesIntroduction, "~", "`") + "| rule | finds | severity | profile | fix |\n|---|---|---|---|---|\n")
	for _, r := range rules {
		fix := ""
		if r.Fixes {
			fix = "yes"
		}
		fmt.Fprintf(&out, "| [%s](%s.md) | %s | %s | %s | %s |\n", r.Name, r.Name, r.Summary, r.Severity, r.Profile, fix)
	}
	return out.String()
}

const rulesIntroduction = `# Rules of the linter

~hostler lint~ checks recipes with these rules and exits with 1 when one finds something. It reads recipes as
~validate~ does, without a host: what only a host can tell is not judged. Unit files are looked at line by line,
wherever they stand: in a heredoc, in a drop-in, or in a file below ~files/~.

## Profiles and configuration

The profile ~basic~ has what does not work as written, ~safe~ (the default) what is known to hurt later, and
~strict~ what careful authors do; each holds those before it. A file ~.hostler-lint.hcl~ configures the recipes in
its directory and below, up to the top of the repository:

~~~hcl
profile          = "strict"
minimum_severity = "warning"
exclude          = ["testdata/**"]

rule "unit-exec-name" {
  severity = "error"
}

rule "image-digest" {
  enabled = false
}
~~~

## Where it is right as it is

A comment answers a finding, on its line or the line above. Above an argument or a block it holds for all of it; in
a unit file, for the next line. The reason is required.

~~~hcl
directory "drop" {
  path = "/srv/drop"
  # hostler:ignore world-writable the file system is mounted for one user
  mode = "0777"
}
~~~

## Fixes

~hostler lint --fix~ removes what can be removed safely. A fix is made only if the recipe still parses and formats,
has no new fault, and everything that the fix does not name reads and evaluates as before; else it is refused with
the reason.

## In continuous integration

~--output~ writes ~text~, ~json~, ~sarif~ (2.1.0), ~junit~, ~github~ (annotations beside the lines of a change) or
~checkstyle~. There are hooks for pre-commit in ~.pre-commit-hooks.yaml~ and a GitHub Action in
~.github/actions/hostler-lint~.

## Rules

`
