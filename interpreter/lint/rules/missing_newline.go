package rules

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
)

func missingNewline() *lint.Rule {
	return &lint.Rule{
		Name: "missing-newline", Summary: "Last line without end", Severity: lint.Warning, Profile: lint.Strict, Fixes: true,
		Doc: "A text file ends in a newline. cron ignores a last line without one, and a shell's `read` and many scripts lose it.",
		Bad: `
write_file_if_changed "job" {
  path    = "/etc/cron.d/demo"
  content = «"* * * * * root /usr/bin/demo"»
}
`,
		Good: `
write_file_if_changed "job" {
  path    = "/etc/cron.d/demo"
  content = "* * * * * root /usr/bin/demo\n"
}
`,
		Check: checkMissingNewline,
	}
}

func checkMissingNewline(p *lint.Pass) {
	for _, w := range p.Files() {
		content := w.Step.Arg("content")
		if !content.Written() {
			continue
		}
		template, ok := content.Attribute.Expr.(*hclsyntax.TemplateExpr)
		text, known := w.Text()
		if !ok || !known || text.Text == "" || strings.HasSuffix(text.Text, "\n") || strings.HasSuffix(text.Text, string(lint.Hole)) {
			continue
		}
		f := lint.Found(w.Step, content.Range, "The last line of %s has no end. Write \\n at its end.", w.Path)
		if source := p.Source(template.SrcRange); strings.HasSuffix(source, `"`) && source[0] == '"' {
			end := template.SrcRange.End.Byte - 1
			f = f.With(lint.Fix{Message: `add \n`, Edits: []lint.Edit{{Range: p.Span(end, end), Text: `\n`}}, Changes: true})
		}
		p.Report(f)
	}
}
