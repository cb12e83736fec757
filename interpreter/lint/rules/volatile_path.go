package rules

import "hostler/interpreter/lint"

func volatilePath() *lint.Rule {
	return &lint.Rule{
		Name: "volatile-path", Summary: "Gone after a reboot", Severity: lint.Warning, Profile: lint.Safe,
		Doc: "`/run`, `/tmp` and `/dev/shm` are emptied at boot, and everybody may put something in the way in `/tmp`. What a service needs there\n" +
			"is made by `RuntimeDirectory=` or `PrivateTmp=` of its unit, or by a file in `/etc/tmpfiles.d`.",
		Bad: `
write_file_if_changed "a" {
  path    = «"/run/demo/demo.conf"»
  content = "a\n"
}
`,
		Good: `
write_file_if_changed "a" {
  path    = "/etc/demo/demo.conf"
  content = "a\n"
}
`,
		Check: checkVolatilePath,
	}
}

func checkVolatilePath(p *lint.Pass) {
	for _, w := range p.Written() {
		if w.Step.Type.Name == "absent" {
			continue
		}
		for _, dir := range []string{"/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm"} {
			if lint.Below(w.Path, dir) {
				p.ReportStep(w.Step, w.At, "%s does not keep what is in it. Write below /etc or /var/lib, or let the unit make it with RuntimeDirectory=.", dir)
			}
		}
	}
}
