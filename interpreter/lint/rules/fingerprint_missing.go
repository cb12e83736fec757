package rules

import "hostler/interpreter/lint"

func fingerprintMissing() *lint.Rule {
	return &lint.Rule{
		Name: "fingerprint-missing", Summary: "Installation without identity", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "Without `fingerprint` any two installations of the recipe are the same: another image or another cluster is an ordinary update, and a\n" +
			"machine is built over the old one's data. Say what makes *this* installation: the inputs whose change wants a reset or a repave.",
		Bad: `
«recipe "demo"» {
  language = 1
  version  = "1.0.0"

  supports "debian" {
    id = "debian"
  }
}

require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Good: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ image = "base" })

  supports "debian" {
    id = "debian"
  }
}

require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = "registry.example/base@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkFingerprintMissing,
	}
}

func checkFingerprintMissing(p *lint.Pass) {
	header := p.Header()
	if header != nil && header.Body.Attributes["fingerprint"] == nil && len(p.Steps("nspawn_machine")) > 0 {
		p.Reportf(header.DefRange(), "Nothing says what makes this installation another one. Write fingerprint = fingerprint({ … }) with the image of the machine.")
	}
}
