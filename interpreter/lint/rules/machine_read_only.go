package rules

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func machineReadOnly() *lint.Rule {
	return &lint.Rule{
		Name: "machine-read-only", Summary: "Owners cannot be shifted", Severity: lint.Error, Profile: lint.Basic,
		Doc: "With user namespaces systemd-nspawn gives the files of the tree to other users, which it cannot where the tree is read-only. Write\n" +
			"`PrivateUsersOwnership = \"map\"`, so that the mount maps the owners and the files stay as they are, or `PrivateUsers = \"no\"`.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  settings {
    exec  = { PrivateUsers = "pick" }
    files = «{ ReadOnly = "yes" }»
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
    exec  = { PrivateUsers = "pick" }
    files = { ReadOnly = "yes", PrivateUsersOwnership = "map" }
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkMachineReadOnly,
	}
}

// directive is the value of a directive in an argument that holds them, "" when
// it has none or it is not known.
func directive(b *eval.Arguments, name, key string) string {
	arg := b.Arg(name)
	if !arg.Written() {
		return ""
	}
	object, ok := arg.Attribute.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return ""
	}
	for _, item := range object.Items {
		if keyText(item.KeyExpr) == key {
			text, _ := lint.Literal(item.ValueExpr)
			return strings.ToLower(text)
		}
	}
	return ""
}

func checkMachineReadOnly(p *lint.Pass) {
	for _, m := range p.Steps("nspawn_machine") {
		for _, b := range m.Blocks("settings") {
			users, how := directive(b, "exec", "PrivateUsers"), directive(b, "files", "PrivateUsersOwnership")
			shifts := users != "" && users != "no" && users != "false" && users != "0" && users != "off" && how != "map" && how != "off"
			if readOnly := directive(b, "files", "ReadOnly"); shifts && (readOnly == "yes" || readOnly == "true" || readOnly == "1" || readOnly == "on") {
				p.Claim(lint.Found(m, b.Arg("files").Range,
					"A read-only tree cannot be given to the users of PrivateUsers. Write PrivateUsersOwnership = \"map\" here, or PrivateUsers = \"no\" in exec."), "Read-only tree cannot change owners")
			}
		}
	}
}
