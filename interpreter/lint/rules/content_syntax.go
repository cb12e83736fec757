package rules

import (
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/BurntSushi/toml"

	"hostler/interpreter/lint"
)

func contentSyntax() *lint.Rule {
	return &lint.Rule{
		Name: "content-syntax", Summary: "Content that nobody parses", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The name of the file says JSON or TOML, and its text is not valid. Make such files of values with `jsonencode()` and `tomlencode()`:\n" +
			"what they write is always valid, and a value with a quote in it cannot break it.",
		Bad: `
write_file_if_changed "config" {
  path    = "/etc/demo/config.json"
  content = <<-EOT
    {
      "port": 80«,»
    }
  EOT
}
`,
		Good: `
write_file_if_changed "config" {
  path    = "/etc/demo/config.json"
  content = "${jsonencode({ port = 80 })}\n"
}
`,
		Check: checkContentSyntax,
	}
}

func checkContentSyntax(p *lint.Pass) {
	for _, w := range p.Files() {
		text, ok := w.Text()
		if !ok || !text.Whole || text.Text == "" {
			continue
		}
		switch path.Ext(w.Path) {
		case ".json", ".ign":
			var v any
			err := json.Unmarshal([]byte(text.Text), &v)
			if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
				at := jsonFault(text.Text, int(fault.Offset))
				p.ReportStep(w.Step, text.Range(at, at+1), "This is not valid JSON: %s. Write jsonencode({ … }).", fault)
			}
		case ".toml":
			var v map[string]any
			_, err := toml.Decode(text.Text, &v)
			if fault, ok := errors.AsType[toml.ParseError](err); ok {
				p.ReportStep(w.Step, text.Range(fault.Position.Start, fault.Position.Start+max(1, fault.Position.Len)), "This is not valid TOML: %s. Write tomlencode({ … }).", fault.Message)
			}
		}
	}
}

// jsonFault is the offset of what the parser stumbled over: a comma before a
// closing bracket rather than the bracket.
func jsonFault(text string, offset int) int {
	at := max(0, min(offset-1, len(text)-1))
	if text[at] != '}' && text[at] != ']' {
		return at
	}
	before := strings.TrimRight(text[:at], " \t\n")
	if strings.HasSuffix(before, ",") {
		return len(before) - 1
	}
	return at
}
