package rules

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
	"hostler/interpreter/unitfile"
)

func machineDirective() *lint.Rule {
	return &lint.Rule{
		Name: "machine-directive", Summary: "Unknown machine directive", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "What stands in `settings` and `service` is written to the `.nspawn` file and to the drop-in of the machine's unit as it is, and\n" +
			"systemd ignores a directive that it does not know in that section: see `systemd.nspawn(5)` and `systemd.service(5)`.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  settings {
    exec = { «PrivateUser» = "no" }
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Good: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  settings {
    exec = { PrivateUsers = "no" }
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineDirective,
	}
}

// machineSections are the sections that arguments of a machine's blocks become.
func machineSections() map[string]map[string]string {
	return map[string]map[string]string{
		"settings": {"exec": "Exec", "network": "Network", "files": "Files"},
		"service":  {"unit": "Unit", "service": "Service"},
	}
}

func checkMachineDirective(p *lint.Pass) {
	for _, m := range p.Steps("nspawn_machine") {
		for kind, sections := range machineSections() {
			for _, b := range m.Blocks(kind) {
				for _, arg := range b.Args() {
					if section := sections[arg.Schema.Name]; section != "" {
						checkDirectiveKeys(p, m, arg, section)
					}
				}
			}
		}
	}
}

func checkDirectiveKeys(p *lint.Pass, m *eval.Inspected, arg eval.Arg, section string) {
	object, ok := arg.Attribute.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return
	}
	for _, item := range object.Items {
		key := keyText(item.KeyExpr)
		if _, known := unitfile.Known(section, key); known || key == "" {
			continue
		}
		at := item.KeyExpr.Range()
		f := lint.Found(m, at, "systemd knows no %s= in [%s] and ignores it.", key, section)
		if near := syntax.Suggest(key, unitfile.Directives(section)); near != "" {
			f.Detail += " Did you mean " + near + "?"
			f = f.With(lint.Fix{Message: "write " + near, Edits: []lint.Edit{{Range: at, Text: strings.Replace(p.Source(at), key, near, 1)}}, Changes: true})
		}
		p.Report(f)
	}
}

// keyText is the text of a key that is written as such, "" for others.
func keyText(expr hclsyntax.Expression) string {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		return word
	}
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		text, _ := lint.Literal(key.Wrapped)
		return text
	}
	return ""
}
