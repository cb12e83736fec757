package nspawnmachine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
	"hostler/interpreter/rootfs"
)

// served is an archive that the network of a host serves; refuse makes the
// server busy.
func served(t *testing.T, refuse *bool) (*memory.Memory, string) {
	t.Helper()
	tarball := archive("etc/os-release", "ID=net\n")
	sum := sha256.Sum256([]byte(tarball))
	m := memoryHost(func(o *memory.Options) {
		o.Network.HTTP = map[string]http.Handler{"images.example": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if *refuse {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, tarball)
		})}
	})
	return m, "name = \"kube1\"\nrootfs {\n image = \"https://images.example/x.tar?sig=secret\"\n platform = \"linux/amd64\"\n sha256 = \"" + hex.EncodeToString(sum[:]) + "\"\n}\n"
}

// TestNetworkImage: fetched through the host's network into the cache; a plan
// says that the tree is unknown, and a busy server is a passing fault.
func TestNetworkImage(t *testing.T) {
	busy := true
	m, text := served(t, &busy)
	step := part(t, "rootfs", text)
	s := blocktest.NewStage(m.Host())
	err := s.Apply(step)
	if block.Passing(err) != block.FaultNetwork || strings.Contains(err.Error(), "secret") {
		t.Errorf("busy: %v", err)
	}
	busy = false
	over := shadow.Over(s.Host.View()).Host()
	planned := blocktest.NewStage(over)
	if err := planned.Apply(step); err != nil {
		t.Fatal(err)
	}
	inside, err := over.Machines.Host(context.Background(), "kube1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inside.Files.Stat("/etc/os-release"); !errors.Is(err, host.ErrUnknown) || !strings.Contains(err.Error(), "not unpacked yet") {
		t.Errorf("in the planned tree: %v", err)
	}
	planned.MustHold(t, step)
	if err := planned.Apply(part(t, "boot", text)); err != nil {
		t.Errorf("planned boot: %v", err)
	}
	s.MustApply(t, step)
	if digest, ok, err := rootfs.Complete(s.Host.Files, "kube1"); !ok || err != nil || !strings.Contains(text, strings.TrimPrefix(digest, "sha256:")) {
		t.Errorf("%q %v %v", digest, ok, err)
	}
	// A new signature is the same image; the network is not asked.
	busy = true
	s.MustHold(t, part(t, "rootfs", strings.Replace(text, "sig=secret", "sig=other", 1)))
	c := s.MustCheck(t, part(t, "rootfs", strings.Replace(text, "amd64", "arm64", 1)))
	if c.Needed() || len(c.Pending) != 1 || !strings.Contains(c.Pending[0].Reason, "linux/arm64") {
		t.Errorf("another platform: %+v", c)
	}
}
