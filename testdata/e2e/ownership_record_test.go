//go:build e2e

package e2e

import (
	"bytes"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

// TestH24CorruptRecord: with half a record nothing but reset runs, which says
// why it goes without, and the host is what it was before. R051, R125, R123.
func TestH24CorruptRecord(t *testing.T) {
	h := ownedHost(t, lab.Options{Store: lab.Overlay})
	before := lab.Snapshot(t, h.Root()+"/etc")
	expect(t, h, 0, "apply", owned)
	whole := h.Pull(recordFile)
	h.Push(recordFile, whole[:len(whole)/2], 0o600)
	says(t, expect(t, h, 73, "apply", owned), "record.json cannot be read", "hostler reset")
	expect(t, h, 73, "ensure")
	expect(t, h, 0, "status")
	if phase := phaseOf(t, h); phase != "unreadable" {
		t.Errorf("phase %s", phase)
	}
	says(t, expect(t, h, 0, "reset"), "record.json cannot be read")
	if diff := lab.Changes(before, lab.Snapshot(t, h.Root()+"/etc")); len(diff) > 0 {
		t.Errorf("after the reset: %q", diff)
	}
	if there(h, "/var/lib/hostler") || there(h, "/usr/local/bin/owned-tool") {
		t.Error("something is left")
	}
	expect(t, h, 0, "apply", owned)
}

// TestH25UnknownField: a field of a later release is ignored and kept. R007.
func TestH25UnknownField(t *testing.T) {
	h := installed(t, lab.Options{Store: lab.Overlay})
	h.Push(recordFile, bytes.Replace(h.Pull(recordFile), []byte("{"), []byte(`{"later": {"x": [1]},`), 1), 0o600)
	expect(t, h, 0, "ensure")
	expect(t, h, 0, "apply", owned, "--var", "label=b=2")
	says(t, string(h.Pull(recordFile)), `"later"`)
	expect(t, h, 0, "reset")
}

// TestC72DamagedRecord: no damage makes a host look like one without an
// installation, and from each of them a reset leads back.
func TestC72DamagedRecord(t *testing.T) {
	h := ownedHost(t, lab.Options{Store: lab.Overlay})
	before := lab.Snapshot(t, h.Root()+"/etc")
	for name, damage := range map[string]string{
		"empty": "", "braces": "{}", "another program's": `{"version": 4, "resources": []}`, "no JSON": "owned", "no phase": "half",
		"a directory": "directory",
	} {
		expect(t, h, 0, "apply", owned)
		whole := h.Pull(recordFile)
		switch damage {
		case "half":
			h.Push(recordFile, bytes.Replace(whole, []byte(`"phase": "complete"`), []byte(`"phase": ""`), 1), 0o600)
		case "directory":
			h.MustExec("sh", "-c", "rm "+recordFile+"; mkdir "+recordFile)
		default:
			h.Push(recordFile, []byte(damage), 0o600)
		}
		state := stamps(t, h, hostDirs()...)
		says(t, expect(t, h, 73, "apply", owned), "record.json")
		expect(t, h, 73, "ensure", owned)
		untouched(t, h, state, hostDirs()...)
		expect(t, h, 0, "reset")
		if diff := lab.Changes(before, lab.Snapshot(t, h.Root()+"/etc")); len(diff) > 0 {
			t.Errorf("%s: after the reset: %q", name, diff)
		}
	}
}

// TestC74NewerRecord: what a later release wrote is not touched, and status
// says what it can. A version that makes no sense is damage.
func TestC74NewerRecord(t *testing.T) {
	h := installed(t, lab.Options{Store: lab.Overlay})
	whole := string(h.Pull(recordFile))
	version := func(v string) {
		h.Push(recordFile, []byte(strings.Replace(whole, `"schema_version": 1`, `"schema_version": `+v+`, "more": 1`, 1)), 0o600)
	}
	version("2")
	state := stamps(t, h, hostDirs()...)
	for _, args := range [][]string{{"apply", owned}, {"ensure"}, {"reset"}, {"reset", owned, "--force"}} {
		says(t, expect(t, h, 73, args...), "schema 2")
	}
	says(t, expect(t, h, 0, "status"), "schema 2")
	untouched(t, h, state, hostDirs()...)

	for _, odd := range []string{"0", `"abc"`} {
		version(odd)
		says(t, expect(t, h, 73, "apply", owned), "schema_version is "+odd)
		if phase := phaseOf(t, h); phase != "unreadable" {
			t.Errorf("schema %s: phase %s", odd, phase)
		}
	}
	version("1")
	expect(t, h, 0, "ensure")
	expect(t, h, 0, "reset")
}
