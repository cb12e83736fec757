package host_test

import (
	"slices"
	"testing"

	"hostler/interpreter/host"
)

// TestC36MachineNames: those that systemd-nspawn takes, and no others.
func TestC36MachineNames(t *testing.T) {
	long := string(slices.Repeat([]byte("a"), 64))
	for name, want := range map[string]bool{
		"work_dev": false, "-lead": false, "trail-": false, "a..b": false, "ünï": false, "a@b": false, "a/b": false, ".hidden": false,
		long + "a": false, long: true, "UPPER": true, "a.b": true, "": false, "a\n": false, "..": false, "kube1": true,
	} {
		if got := host.ValidMachineName(name); got != want {
			t.Errorf("%q is a machine name: %v, want %v", name, got, want)
		}
	}
}
