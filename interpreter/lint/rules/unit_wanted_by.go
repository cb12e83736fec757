package rules

import (
	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
	"hostler/interpreter/unitfile"
)

func unitWantedBy() *lint.Rule {
	return &lint.Rule{
		Name: "unit-wanted-by", Summary: "Target that never starts", Severity: lint.Error, Profile: lint.Basic, Fixes: true,
		Doc: "`WantedBy=` names the unit that starts this one. A link for a name that no unit has is made without a word, and the unit never\n" +
			"starts. The usual ones are `multi-user.target`, `timers.target` and `sockets.target`.",
		Bad: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo

    [Install]
    WantedBy=«multiuser.target»
  EOT
  enable  = true
}
`,
		Good: `
systemd_unit "demo.service" {
  content = <<-EOT
    [Service]
    ExecStart=/usr/bin/demo

    [Install]
    WantedBy=multi-user.target
  EOT
  enable  = true
}
`,
		Check: checkUnitWantedBy,
	}
}

// targets are those that systemd ships, systemd.special(7).
func targets() []string {
	return []string{
		"basic.target", "boot-complete.target", "default.target", "final.target", "getty.target", "graphical.target", "halt.target",
		"initrd.target", "local-fs-pre.target", "local-fs.target", "machines.target", "multi-user.target", "network-online.target",
		"network-pre.target", "network.target", "nss-lookup.target", "nss-user-lookup.target", "paths.target", "poweroff.target",
		"reboot.target", "remote-fs-pre.target", "remote-fs.target", "rescue.target", "shutdown.target", "sleep.target", "slices.target",
		"sockets.target", "sound.target", "suspend.target", "swap.target", "sysinit.target", "time-set.target", "time-sync.target",
		"timers.target", "umount.target", "emergency.target", "hibernate.target", "cryptsetup.target", "integritysetup.target",
		"veritysetup.target", "exit.target", "first-boot-complete.target", "printer.target", "bluetooth.target", "smartcard.target",
	}
}

func checkUnitWantedBy(p *lint.Pass) {
	made := map[string]bool{}
	for _, u := range p.Units() {
		made[u.Text] = true
	}
	for _, u := range p.Units() {
		for _, l := range u.All("Install", "WantedBy", "RequiredBy", "UpheldBy") {
			for _, w := range l.Words() {
				if !lint.Holes(w) && !made[w] {
					checkTarget(p, u, l, w)
				}
			}
		}
	}
}

// checkTarget reports what is no unit name, and what is nearly one of systemd's
// targets.
func checkTarget(p *lint.Pass, u *lint.Unit, l lint.Line, w string) {
	known := targets()
	name, err := unitfile.ParseName(w)
	if err == nil && name.Type != "target" {
		return
	}
	for _, t := range known {
		if t == w {
			return
		}
	}
	at := l.Find(w)
	near := syntax.Suggest(w, known)
	switch {
	case near != "":
		f := lint.Found(u.Step, at, "systemd has no %s, so the unit is never started. Did you mean %s?", w, near)
		if l.Part.Text.Editable(l.Directive.ValueRange.Start.Byte, l.Directive.ValueRange.End.Byte) && at != l.ValueRange() || l.Value == w && l.Part.Text.Asset == "" {
			f = f.With(lint.Fix{Message: "write " + near, Edits: []lint.Edit{{Range: at, Text: near}}, Changes: true})
		}
		p.Report(f)
	case err != nil:
		p.ReportStep(u.Step, at, "%s.", capital(err.Error()))
	}
}
