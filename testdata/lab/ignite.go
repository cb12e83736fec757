package lab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Ignite runs Ignition on a host that is off, as an initramfs does before the
// first boot: in the host's network, on its tree, with the configuration. It
// returns Ignition's log; the error says at which stage it gave up, when the
// tree may be half written.
//
// Ignition enables units by a preset, so that the boot must be a first one:
// see [Options.FirstBoot] and [Host.Forget].
func (h *Host) Ignite(config []byte) (log string, err error) {
	h.t.Helper()
	if h.Running() {
		h.t.Fatalf("lab: %s is on; Ignition runs before a boot", h.id)
	}
	dir, err := h.run.mkdir("ignition")
	if err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	file := filepath.Join(dir, "config.ign")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	var out bytes.Buffer
	cached := filepath.Join(dir, "ignition.json")
	for _, stage := range []string{"fetch-offline", "fetch", "files"} {
		if _, err := os.Stat(cached); stage == "fetch" && err == nil {
			continue // it needed no network
		}
		cmd := exec.Command("ip", "netns", "exec", h.id, filepath.Join(cacheDir(), "ignition"), "--platform=file", "--stage="+stage, "--root="+h.root,
			"--config-cache="+cached, "--state-file="+filepath.Join(dir, "state"), "--neednet="+filepath.Join(dir, "neednet"),
			"--fetch-timeout=20s", "--log-to-stdout")
		cmd.Env = append(os.Environ(), "IGNITION_CONFIG_FILE="+file, "IGNITION_SYSTEM_CONFIG_DIR="+filepath.Join(dir, "system"))
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return out.String(), fmt.Errorf("Ignition's stage %s: %w", stage, err)
		}
	}
	return out.String(), nil
}

// Forget makes the next boot of a host that is off a first one: systemd applies
// presets and takes a new machine id.
func (h *Host) Forget() {
	h.t.Helper()
	h.Push("/etc/machine-id", []byte("uninitialized\n"), 0o444)
}
