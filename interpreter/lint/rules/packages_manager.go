package rules

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/lint"
)

func packagesManager() *lint.Rule {
	return &lint.Rule{
		Name: "packages-manager", Summary: "Packages nobody can install", Severity: lint.Warning, Profile: lint.Basic,
		Doc: "`packages` has an entry for each package manager, and none that a supported system has: apt on Debian and Ubuntu, dnf on Fedora and\n" +
			"the Enterprise Linuxes, tdnf on Azure Linux, zypper on SUSE. On an image-managed system nothing is ever installed.",
		Bad: `
require_capability "nft" {
  executable = "nft"
  packages   = «{ dnf = ["nftables"] }»
}
`,
		Good: `
require_capability "nft" {
  executable = "nft"
  packages   = { apt = ["nftables"] }
}
`,
		Check: checkPackagesManager,
	}
}

// managersOf are the package managers of a distribution, nil when it is not
// known.
func managersOf(id string) []string {
	switch id {
	case "debian", "ubuntu", "raspbian", "linuxmint":
		return []string{"apt"}
	case "fedora", "rhel", "centos", "rocky", "almalinux", "ol", "amzn":
		return []string{"dnf", "yum", "microdnf"}
	case "azurelinux", "mariner", "photon":
		return []string{"tdnf", "dnf"}
	case "sles", "sled", "opensuse-leap", "opensuse-tumbleweed":
		return []string{"zypper"}
	case "arch":
		return []string{"pacman"}
	case "alpine":
		return []string{"apk"}
	}
	return nil
}

func checkPackagesManager(p *lint.Pass) {
	supports := p.Supports()
	for _, s := range p.Steps("require_capability") {
		arg := s.Arg("packages")
		if !arg.Written() {
			continue
		}
		object, ok := arg.Attribute.Expr.(*hclsyntax.ObjectConsExpr)
		if !ok {
			continue
		}
		var given []string
		for _, item := range object.Items {
			given = append(given, keyText(item.KeyExpr))
		}
		for _, sup := range supports {
			managers := managersOf(sup.ID)
			fits := slices.ContainsFunc(given, func(m string) bool { return m == "" || slices.Contains(managers, m) })
			if sup.ImageManaged() || managers == nil || fits {
				continue
			}
			p.ReportStep(s, arg.Range, "The recipe supports %q, which installs packages with %s. Add %s = […].", sup.Name, managers[0], managers[0])
			break
		}
	}
}
