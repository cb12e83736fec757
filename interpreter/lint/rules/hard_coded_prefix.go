package rules

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func hardCodedPrefix() *lint.Rule {
	return &lint.Rule{
		Name: "hard-coded-prefix", Summary: "Install prefix written out", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "The recipe knows that the install prefix differs from host to host: it has a `default_prefix` or reads `host.prefix`. A path with the\n" +
			"prefix written out stays where it is when `--prefix` is given, and two layouts come about.",
		Bad: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "azure_linux" {
    id             = "azurelinux"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/demo"
  }
}

write_file_if_changed "tool" {
  path    = «"/opt/demo/bin/tool"»
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Good: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "azure_linux" {
    id             = "azurelinux"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/demo"
  }
}

write_file_if_changed "tool" {
  path    = "${host.prefix}/bin/tool"
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Check: checkHardCodedPrefix,
	}
}

func checkHardCodedPrefix(p *lint.Pass) {
	var prefixes []string
	for _, s := range p.Supports() {
		if s.DefaultPrefix != "" {
			prefixes = append(prefixes, s.DefaultPrefix)
		}
	}
	if len(prefixes) > 0 || usesPrefix(p) {
		prefixes = append(prefixes, eval.DefaultPrefix)
	}
	for _, w := range p.Written() {
		if w.Step.Inside || w.Step.Arg("path").Attribute == nil {
			continue
		}
		if _, literal := lint.Literal(w.Step.Arg("path").Attribute.Expr); !literal {
			continue
		}
		for _, prefix := range prefixes {
			if lint.Below(w.Path, prefix) {
				p.ReportStep(w.Step, w.At, "%s is the install prefix of some hosts only. Write \"${host.prefix}%s\".", prefix, strings.TrimPrefix(w.Path, prefix))
				break
			}
		}
	}
}

func usesPrefix(p *lint.Pass) bool {
	found := false
	p.Traversals(func(_ *hclsyntax.Block, e *hclsyntax.ScopeTraversalExpr) {
		found = found || strings.HasPrefix(p.Source(e.SrcRange), "host.prefix")
	})
	return found
}
