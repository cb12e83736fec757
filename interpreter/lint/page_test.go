package lint_test

import (
	"strings"
	"testing"

	"hostler/interpreter/lint"
)

func TestRulePage(t *testing.T) {
	r := &lint.Rule{
		Name: "some-rule", Summary: "Something found", Severity: lint.Error, Profile: lint.Strict, Fixes: true, Doc: "One line\nand another.",
		Bad:  "\nfile «\"a\"» {}\n-- files/x --\nline«␍»\n-- other.hcl --\nb = 1\n",
		Good: "\nfile \"b\" {}\n-- empty --\n",
	}
	want := "# some-rule\n\nSomething found: error in the profile `strict`; `hostler lint --fix` can remove it.\n\nOne line and another.\n" +
		"\n## Found\n\n```hcl\nfile \"a\" {}\n```\n\n`files/x`:\n\n```\nline\\r\n```\n\n`other.hcl`:\n\n```hcl\nb = 1\n```\n" +
		"\n## Right\n\n```hcl\nfile \"b\" {}\n```\n\nWhere it is right as it is, say why on the line above:\n\n```hcl\n# hostler:ignore some-rule the reason\n```\n"
	if got := lint.RulePage(r); got != want {
		t.Errorf("%s", got)
	}
	if page := lint.RulesPage([]*lint.Rule{r}); !strings.Contains(page, "| [some-rule](some-rule.md) | Something found | error | strict | yes |\n") {
		t.Errorf("%s", page)
	}
	if strings.Contains(lint.RulePage(&lint.Rule{Name: "validate"}), "hostler:ignore") {
		t.Error("what validation finds cannot be ignored")
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"basic", "safe", "strict"} {
		if p, err := lint.ParseProfile(name); err != nil || p.String() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"error", "warning"} {
		if s, err := lint.ParseSeverity(name); err != nil || s.String() != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := lint.ParseProfile("nice"); err == nil {
		t.Error("nice is no profile")
	}
	if _, err := lint.ParseSeverity("info"); err == nil {
		t.Error("info is no severity")
	}
}
