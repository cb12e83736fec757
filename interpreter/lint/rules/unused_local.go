package rules

import (
	"bytes"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

func unusedLocal() *lint.Rule {
	return &lint.Rule{
		Name: "unused-local", Summary: "Local nobody reads", Severity: lint.Warning, Profile: lint.Basic, Fixes: true,
		Doc: "The value is worked out for nothing; often its name was written differently where it was to be used.",
		Bad: `
locals {
  port    = 80
  «address» = "127.0.0.1"
}

write_file_if_changed "config" {
  path    = "/etc/demo.conf"
  content = "port = ${local.port}\n"
}
`,
		Good: `
locals {
  port    = 80
  address = "127.0.0.1"
}

write_file_if_changed "config" {
  path    = "/etc/demo.conf"
  content = "listen = ${local.address}:${local.port}\n"
}
`,
		Check: checkUnusedLocal,
	}
}

func checkUnusedLocal(p *lint.Pass) {
	names := used(p, "local")
	for _, b := range p.Blocks("locals") {
		for _, a := range syntax.Attributes(b.Body) {
			if names[a.Name] {
				continue
			}
			f := lint.Finding{Range: a.NameRange, Detail: "Nothing reads local." + a.Name + ". Use it, or remove it."}
			from, to := lines(p, a)
			p.Report(f.With(lint.Fix{Message: "remove it", Edits: []lint.Edit{{Range: p.Span(from, to)}}}))
		}
	}
}

// lines are the whole lines of an attribute, where nothing else stands on them;
// else the attribute alone.
func lines(p *lint.Pass, a *hclsyntax.Attribute) (from, to int) {
	text := p.File.Bytes
	from, to = a.SrcRange.Start.Byte, a.SrcRange.End.Byte
	start := bytes.LastIndexByte(text[:from], '\n') + 1
	end := to
	if n := bytes.IndexByte(text[to:], '\n'); n >= 0 {
		end = to + n + 1
	}
	if len(bytes.TrimSpace(text[start:from])) == 0 && len(bytes.TrimSpace(text[to:end])) == 0 {
		if text[to-1] == '\n' { // a heredoc ends with its line
			return start, to
		}
		return start, end
	}
	return from, to
}
