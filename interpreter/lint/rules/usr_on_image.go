package rules

import (
	"strings"

	"hostler/interpreter/lint"
)

func usrOnImage() *lint.Rule {
	return &lint.Rule{
		Name: "usr-on-image", Summary: "Image whose /usr is read-only", Severity: lint.Error, Profile: lint.Basic,
		Doc: "The recipe supports a system whose `/usr` comes with the image and is read-only: Azure Container Linux, Flatcar, CoreOS. `/usr/local`\n" +
			"is part of it on most. Write below `/opt` or `/etc`, or below `host.prefix` with a `default_prefix` for that system.",
		Bad: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "flatcar" {
    id = "flatcar"
  }
}

write_file_if_changed "tool" {
  path    = «"/usr/local/bin/demo"»
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Good: `
recipe "demo" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ demo = "1" })

  supports "flatcar" {
    id             = "flatcar"
    default_prefix = "/opt/demo"
  }
}

write_file_if_changed "tool" {
  path    = "${host.prefix}/bin/demo"
  mode    = "0755"
  content = "#!/bin/sh\nexit 0\n"
}
`,
		Check: checkUsrOnImage,
	}
}

func checkUsrOnImage(p *lint.Pass) {
	for _, sup := range p.Supports() {
		if !sup.ImageManaged() {
			continue
		}
		for _, w := range p.Written() {
			// CoreOS has /usr/local as a link into /var.
			local := sup.VariantID == "coreos" && strings.HasPrefix(w.Path, "/usr/local/")
			if !w.Step.Inside && lint.Below(w.Path, "/usr") && !local && w.Step.Common("when") == nil {
				p.ReportStep(w.Step, w.At, "On %q, which the recipe supports, /usr is read-only. Write below /opt or /etc, or below ${host.prefix} with a default_prefix for it.", sup.Name)
			}
		}
	}
}
