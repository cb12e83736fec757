//go:build e2e

package e2e

import (
	"maps"
	"slices"
	"strings"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

// firstBoot: what Ignition wrote is all there is before (R207), with the modes
// it should have; then the unit runs and everything is there.
func firstBoot(s *site) {
	s.Boot()
	s.wantRun()
	s.wantInstalled()
	for file, want := range map[string]string{
		delivery.InputsHCL: "600", delivery.Dir: "700", delivery.RecipeDir: "700", delivery.RecipeDir + "/recipe.hcl": "644",
		delivery.UnitPath(delivery.BootUnit): "644", "/var/lib/hostler/record.json": "600",
	} {
		if got := s.MustExec("stat", "--format=%a %u:%g", file); got != want+" 0:0" {
			s.t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
	s.sh("systemd-analyze verify " + delivery.UnitPath(delivery.BootUnit))
	if out := s.sh("journalctl --no-pager -b; grep -rl canary-95 /etc /var/log /run 2>/dev/null; true"); strings.Count(out, "canary-95") > 0 {
		s.t.Errorf("the token is in the journal:\n%s", out)
	}
	if console := s.Console(); strings.Contains(console, "hostler: ") || strings.Contains(console, "canary-95") {
		s.t.Errorf("a boot without fault says something on the console:\n%s", console)
	}
}

// quietReboot: nothing is written, nothing sent, and the unit is done at the
// first try.
func quietReboot(s *site, p *provider) {
	before, asked, packets := stamps(s.t, s.Host, firstBootDirs()...), p.asked.Load(), s.Packets("eth0")
	invocation := s.invocation("", delivery.BootUnit)
	s.Reboot()
	s.wantRun()
	untouched(s.t, s.Host, before, firstBootDirs()...)
	if now := p.asked.Load(); now != asked {
		s.t.Errorf("%d requests", now-asked)
	}
	if now := s.Packets("eth0"); now != packets {
		s.t.Errorf("%d packets", now-packets)
	}
	if s.t.Failed() {
		s.t.Logf("the boot unit said\n%s", s.sh("journalctl --boot --no-pager --output=short-monotonic --unit="+delivery.BootUnit))
	}
	if s.invocation("", delivery.BootUnit) == invocation {
		s.t.Error("the unit did not run again")
	}
	s.wantInstalled()
}

// damaged: what was stopped, disabled, edited or removed is back after a boot,
// the daemon too.
func damaged(s *site) {
	s.sh("systemctl disable --now " + delivery.DaemonUnit + "; ln -sfn nothing " + delivery.LastGood(prefix))
	s.sh("systemctl disable --now site.service; rm /etc/site/settings.json; echo other >/etc/site/token; chmod 644 /etc/site/token")
	s.sh("systemctl --machine=node1 disable --now greeter.service")
	s.Reboot()
	s.wantRun()
	s.wantInstalled()
}

// firstBootReset: the boot unit goes before all else, so that it does not come
// back even when the reset fails half-way; the program stays until the end, so
// that the reset can be run again. Then nothing comes back.
func firstBootReset(s *site, bare map[string]bool) {
	const held = "/etc/site/asset.bin"
	s.MustExec("mount", "--bind", held, held)
	o := eventsOf(s.t, s.Exec(delivered, "reset", "--output", "json"))
	if o.Code != 1 || !strings.Contains(o.last().Error, held) {
		s.t.Fatalf("a reset that cannot remove %s: %s", held, o)
	}
	for i, thing := range []string{"unit-active:", "unit-enabled:", "path:/etc/systemd/system/"} {
		if changed := o.changed(); len(changed) < 3 || changed[i] != thing+delivery.BootUnit {
			s.t.Errorf("the boot unit does not go first: %q", changed)
			break
		}
	}
	if u := s.show("", delivery.BootUnit); u["LoadState"] != "not-found" || u["ActiveState"] != "inactive" {
		s.t.Errorf("the boot unit is still %s and %s", u["LoadState"], u["ActiveState"])
	}
	s.Reboot() // which frees the file
	if status, _ := s.status(); status.Phase != "resetting" || s.machineLeader("node1") != "" {
		s.t.Errorf("after a reboot the phase is %s, the machine's leader %q", status.Phase, s.machineLeader("node1"))
	}
	if o := eventsOf(s.t, s.Exec(delivered, "reset", "--output", "json")); o.Code != 0 {
		s.t.Fatalf("reset: %s", o)
	}
	s.wantGone(bare)
	s.Reboot()
	s.wantGone(bare)
	if out := s.sh("systemctl list-units --all --no-legend --plain 'hostler*' site.service 'systemd-nspawn@*'; machinectl list --no-legend"); out != "" {
		s.t.Errorf("after a reboot there is %s", out)
	}
}

// wantGone holds a host to what it was before Ignition ran, but for Ignition's
// own traces and what any first boot makes.
func (s *site) wantGone(bare map[string]bool) {
	s.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(s.paths())) {
		if !bare[name] && !madeByFirstBoot(name) {
			s.t.Errorf("%s is left", name)
		}
	}
}

// madeByFirstBoot says whether a path is one that a boot makes without us.
func madeByFirstBoot(name string) bool {
	for _, word := range []string{"hostler", "/site", "node1"} {
		if strings.Contains(name, word) {
			return false
		}
	}
	for _, top := range []string{"/etc/.ignition-result.json", "/etc/systemd/system-preset", "/etc/systemd/system/", "/etc/.updated", "/etc/.pwd.lock"} {
		if strings.HasPrefix(name, top) {
			return true
		}
	}
	return false
}

// paths are all paths below the directories that an installation writes to.
func (s *site) paths() map[string]bool {
	s.t.Helper()
	all := map[string]bool{}
	for _, dir := range []string{"/etc", "/opt", "/usr/local", "/var/lib/machines", "/root"} {
		for name := range lab.Snapshot(s.t, s.Root()+dir) {
			all[dir+"/"+name] = true
		}
	}
	all["/var/lib/hostler"] = there(s.Host, "/var/lib/hostler")
	if !all["/var/lib/hostler"] {
		delete(all, "/var/lib/hostler")
	}
	return all
}

// reinstall: the same disk is set up again by the same configuration.
func reinstall(s *site, config []byte) {
	s.Poweroff()
	s.Forget()
	s.ignite(config)
	s.Boot()
	s.wantRun()
	s.wantInstalled()
}
