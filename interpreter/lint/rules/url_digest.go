package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func urlDigest() *lint.Rule {
	return &lint.Rule{
		Name: "url-digest", Summary: "Download without a digest", Severity: lint.Error, Profile: lint.Basic,
		Doc: "What is behind a URL can change, and a cut-off or replaced archive looks like a good one. Write `sha256`, so that other bytes are an\n" +
			"error; for a file that is meant to change `mutable = true` says so.",
		Bad: `
require_capability "nspawn" {
  executable = "systemd-nspawn"
}

nspawn_machine "demo" {
  rootfs {
    image = «"https://images.example/base.tar.zst"»
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
    image  = "https://images.example/base.tar.zst"
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  ready {
    unit = "multi-user.target"
  }
}
`,
		Check: checkURLDigest,
	}
}

func checkURLDigest(p *lint.Pass) {
	for _, m := range p.Steps("nspawn_machine") {
		for _, b := range m.Blocks("rootfs") {
			image := b.Arg("image")
			if ref, _ := image.Text(); strings.Contains(ref, "://") && !strings.HasPrefix(ref, "oci://") && !b.Arg("sha256").Written() {
				p.Claim(lint.Found(m, image.Range, "Other bytes behind the URL would not be noticed. Write sha256 with the digest of the archive."), "Invalid image")
			}
		}
	}
	for _, s := range p.Steps("download") {
		given := false
		for _, name := range []string{"sha256", "sha256_url", "mutable"} {
			given = given || s.Arg(name).Written()
		}
		if url := s.Arg("url"); url.Written() && !given {
			p.Claim(lint.Found(s, url.Range, "Other bytes behind the URL would not be noticed. Write sha256 or sha256_url, or mutable = true where it is meant to change."), "Digest needed")
		}
	}
}
