package nspawnmachine_test

import (
	"context"
	"strings"
	"testing"

	nspawnmachine "hostler/builtins/blocks/nspawn_machine"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

// TestVersionsOfSystemd: what a version of systemd-nspawn knows is used, what it
// does not know is not written.
func TestVersionsOfSystemd(t *testing.T) {
	const plain = "name = \"kube1\"\nrootfs {\n image = \"/srv/one.tar\"\n platform = \"linux/amd64\"\n}\nservice {\n service = { RestartSec = \"1s\" }\n}\n"
	const settings = "settings {\n exec = { PrivateUsers = \"no\" }\n}\n"
	const restricted = "settings {\n exec = { RestrictAddressFamilies = \"AF_UNIX\" }\n}\n"
	const cleanup = "[Service]\nExecStartPre=-/usr/bin/systemd-nspawn --cleanup --machine=kube1\nRestartSec=1s\n"
	for name, c := range map[string]struct {
		systemd          int
		body             string
		exec             string
		cleanup, nothing bool
	}{
		"unknown":               {0, settings, "[Exec]\nPrivateUsers=no\n", false, false},
		"249":                   {249, settings, "[Exec]\nPrivateUsers=no\n", false, false},
		"256":                   {256, settings, "[Exec]\nPrivateUsers=no\n", false, false},
		"257":                   {257, settings, "[Exec]\nPrivateUsers=no\n", true, false},
		"260":                   {260, settings, "[Exec]\nPrivateUsers=no\n", true, false},
		"261":                   {261, settings, "[Exec]\nPrivateUsers=no\nRestrictAddressFamilies=\n", true, false},
		"261, the recipe knows": {261, restricted, "[Exec]\nRestrictAddressFamilies=AF_UNIX\n", true, false},
		"261, no settings":      {261, "", "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			args := blocktest.Args(t, nspawnmachine.Type(), plain+c.body)
			args.Phase, args.Facts.Systemd = "rootfs", c.systemd
			step := blocktest.StepOf(t, nspawnmachine.Type(), args)
			s := blocktest.NewStage(memoryHost(func(o *memory.Options) { o.Systemd = max(c.systemd, 249) }).Host())
			s.MustApply(t, step)
			read := func(name string) string {
				text, err := thing.ReadAll(s.Host.Files, name)
				if err != nil && !c.nothing {
					t.Fatal(err)
				}
				return string(text)
			}
			if got := read("/etc/systemd/nspawn/kube1.nspawn"); c.nothing && got != "" || !c.nothing && !strings.HasSuffix(got, "\n"+c.exec) {
				t.Errorf("the settings are\n%s", got)
			}
			if got := read("/etc/systemd/system/systemd-nspawn@kube1.service.d/10-hostler.conf"); strings.Contains(got, cleanup) != c.cleanup || strings.Contains(got, "cleanup") != c.cleanup {
				t.Errorf("the drop-in is\n%s", got)
			}
			s.MustHold(t, step)
			for _, o := range step.Owns() {
				if o.Want == nil || !strings.HasPrefix(string(o.Key()), "path:") {
					continue
				}
				if found, err := o.Look(context.Background(), s.Host.View()); err != nil || !found.SameContent(*o.Want) {
					t.Errorf("%s: found %+v, wanted %+v (%v)", o.Key(), found, o.Want, err)
				}
			}
		})
	}
}
