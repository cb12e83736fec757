//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"hostler/testdata/lab"
)

const eachBoot = `recipe "site" {
  language = 1
  version  = "1.0.0"
  supports "debian" { id = "debian" }
  fingerprint = fingerprint({})
}
variable "mode" { type = string }

write_file_if_changed "mode" {
  path    = "/etc/site/mode"
  content = var.mode
}
systemd_unit "off.service" {
  content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  enable  = false
}
interpreter_install "hostler" {
  boot_inputs = ["/etc/site.inputs.hcl"]
  daemon      = false
}
`

// TestC66EachBoot: the boot unit runs at every boot, whatever systemd takes for
// a first one by the machine-id: a boot with nothing to do writes nothing, what
// presets enabled is put right, and the older values that were delivered do not
// roll back what was applied since.
func TestC66EachBoot(t *testing.T) {
	t.Parallel()
	s := settle(t, lab.Options{FirstBoot: true, Files: map[string]string{
		"/root/site/recipe.hcl": eachBoot, "/etc/site.inputs.hcl": "mode = \"one\"\n",
		"/etc/systemd/system-preset/00-all.preset": "enable off.service\n",
	}})
	s.must("apply", "/root/site", "--inputs", "/etc/site.inputs.hcl")
	const unit = "hostler-boot.service"
	if text := string(s.Pull("/etc/systemd/system/" + unit)); strings.Contains(text, "ConditionFirstBoot") {
		t.Errorf("the unit looks for a first boot:\n%s", text)
	}
	booted := func(what, mode string) {
		t.Helper()
		s.Reboot()
		s.eventually(what+": the boot unit has run", func() bool {
			p := s.show("", unit)
			return p["ExecMainExitTimestampMonotonic"] != "0" && p["ActiveState"] != "activating"
		})
		if p := s.show("", unit); p["Result"] != "success" || p["ExecMainStatus"] != "0" {
			t.Errorf("%s: %s %s\n%s", what, p["Result"], p["ExecMainStatus"], s.sh("journalctl -b -u "+unit+" -o cat --no-pager"))
		}
		s.holds(what, `test "$(cat /etc/site/mode)" = `+mode+`; test "$(systemctl is-enabled off.service)" = disabled; systemctl is-enabled --quiet `+unit)
	}
	stood := stamps(t, s.Host, "/etc/site", "/etc/systemd/system", "/var/lib/hostler")
	booted("with nothing to do", "one")
	untouched(t, s.Host, stood, "/etc/site", "/etc/systemd/system", "/var/lib/hostler")

	s.must("apply", "/root/site", "--var", "mode=two")
	for what, id := range map[string]string{
		"no machine-id":        "rm /etc/machine-id",
		"an empty one":         ": >/etc/machine-id",
		"an uninitialized one": "echo uninitialized >/etc/machine-id",
	} {
		s.sh(id)
		booted(what, "two")
	}
	s.must("reset")
	s.holds("after the reset", "! test -e /etc/systemd/system/"+unit+"; ! test -e /usr/local/bin/hostler; ! test -e /etc/site")
}
