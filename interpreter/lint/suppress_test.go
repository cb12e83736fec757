package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"hostler/interpreter/lint"
)

// suppression stands for the rule of that name, which the linter reports.
func suppression() *lint.Rule {
	return &lint.Rule{Name: "suppression", Summary: "Comment answers nothing", Severity: lint.Warning}
}

func TestSuppressions(t *testing.T) {
	cases := []struct {
		name, text string
		left       int    // findings of the rule that are left
		answered   int    // findings that a comment answers
		complaint  string // of the rule suppression
	}{
		{"line above an argument", "directory \"a\" {\n  # hostler:ignore no-foo it is right\n  path = \"/foo\"\n}\n", 0, 1, ""},
		{"on the line", "directory \"a\" {\n  path = \"/foo\" # hostler:ignore no-foo it is right\n}\n", 0, 1, ""},
		{"slashes", "directory \"a\" {\n  path = \"/foo\" // hostler:ignore no-foo it is right\n}\n", 0, 1, ""},
		{"a whole block", "# hostler:ignore no-foo it is right\ndirectory \"a\" {\n  path = \"/foo/foo\"\n}\n", 0, 2, ""},
		{"on the block's header", "directory \"a\" { # hostler:ignore no-foo it is right\n  path = \"/foo\"\n}\n", 0, 1, ""},
		{"other comments between", "# hostler:ignore no-foo it is right\n# more\n\ndirectory \"a\" {\n  path = \"/foo\"\n}\n", 0, 1, ""},
		{"in a list", "locals {\n  a = [\n    # hostler:ignore no-foo it is right\n    \"foo\",\n    \"foo\",\n  ]\n}\n", 1, 1, ""},
		{"in a heredoc", "write_file_if_changed \"a\" {\n  path    = \"/a\"\n  content = <<-EOT\n    # hostler:ignore no-foo it is right\n    foo\n    foo\n  EOT\n}\n", 1, 1, ""},
		{"another block", "# hostler:ignore no-foo it is right\ndirectory \"a\" {\n  path = \"/bar\"\n}\ndirectory \"b\" {\n  path = \"/foo\"\n}\n", 1, 0, "Nothing here is found"},
		{"no reason", "directory \"a\" {\n  path = \"/foo\" # hostler:ignore no-foo\n}\n", 1, 0, "gives no reason"},
		{"no rule", "directory \"a\" {\n  path = \"/foo\" # hostler:ignore\n}\n", 1, 0, "names no rule"},
		{"a wrong rule", "directory \"a\" {\n  path = \"/foo\" # hostler:ignore no-fop it is right\n}\n", 1, 0, `Did you mean "no-foo"?`},
		{"validation", "directory \"a\" {\n  path = \"/foo\"\n  pth  = \"\" # hostler:ignore validate it is right\n}\n", 1, 0, "cannot be ignored"},
		{"text in a string", "locals {\n  a = \"foo # hostler:ignore no-foo it is right\"\n}\n", 1, 0, ""},
	}
	for _, c := range cases {
		validate := &lint.Rule{Name: "validate"}
		rule := words("no-foo", "foo")
		rule.Check = skipComments(rule.Check)
		res := run(files{"recipe.hcl": c.text}, rule, suppression(), validate)
		left, complaint := 0, ""
		for _, f := range res.Findings {
			switch f.Rule {
			case "no-foo":
				left++
			case "suppression":
				complaint += f.Detail
			}
		}
		if left != c.left || len(res.Suppressed) != c.answered || !strings.Contains(complaint, c.complaint) || c.complaint == "" && complaint != "" {
			t.Errorf("%s: %d left, %d answered, complaint %q", c.name, left, len(res.Suppressed), complaint)
		}
		for _, s := range res.Suppressed {
			if s.Reason != "it is right" {
				t.Errorf("%s: reason %q", c.name, s.Reason)
			}
		}
	}
}

// skipComments leaves findings on lines with a comment of the linter out that
// are in the comment itself.
func skipComments(check func(*lint.Pass)) func(*lint.Pass) {
	return func(p *lint.Pass) {
		text := string(p.File.Bytes)
		for at := 0; ; {
			n := strings.Index(text[at:], "foo")
			if n < 0 {
				return
			}
			from := at + n
			if !strings.HasSuffix(text[:from], "no-") {
				p.Reportf(p.Span(from, from+3), "There is foo.")
			}
			at = from + 1
		}
	}
}

// TestSuppressionInAsset: a comment in an asset answers what is on the next
// line; one in the recipe answers what is in the assets of its step.
func TestSuppressionInAsset(t *testing.T) {
	rule := &lint.Rule{Name: "nice", Summary: "Nice found", Check: func(p *lint.Pass) {
		for _, u := range p.Units() {
			for _, l := range u.All("Service", "Nice") {
				p.ReportStep(u.Step, l.ValueRange(), "It is %s.", l.Value)
			}
		}
	}}
	unit := "[Service]\nExecStart=/usr/bin/a\n; hostler:ignore nice it is right\nNice=1\nNice=2\n"
	recipe := "%ssystemd_unit \"a.service\" {\n  source = \"files/a\"\n}\n"
	res := run(files{"recipe.hcl": fmt.Sprintf(recipe, ""), "files/a": unit}, rule, suppression())
	if len(res.Findings) != 1 || res.Findings[0].Range.Start.Line != 5 || len(res.Suppressed) != 1 || string(res.Texts["files/a"]) != unit {
		t.Errorf("%+v", res)
	}
	res = run(files{"recipe.hcl": fmt.Sprintf(recipe, "# hostler:ignore nice it is right\n"), "files/a": "[Service]\nExecStart=/usr/bin/a\nNice=1\n"}, rule, suppression())
	if len(res.Findings) != 0 || len(res.Suppressed) != 1 {
		t.Errorf("%+v", res)
	}
}

// TestSuppressionOfRuleThatIsOff: a comment for a rule that is not checked is
// not idle.
func TestSuppressionOfRuleThatIsOff(t *testing.T) {
	strict := &lint.Rule{Name: "strict-one", Profile: lint.Strict, Check: func(*lint.Pass) { t.Error("it is not in the profile") }}
	res := run(files{"recipe.hcl": "# hostler:ignore strict-one it is right\ndirectory \"a\" {\n  path = \"/a\"\n}\n"}, strict, suppression())
	if len(res.Findings) > 0 {
		t.Error(show(res.Findings[0]))
	}
}
