//go:build e2e

package linux_test

import (
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/coreos/go-systemd/v22/daemon"

	"hostler/testdata/lab"
)

// The tests are this test binary, run again inside hosts of the lab, where the
// environment says which test it is to be.
const (
	inLab   = "HOSTLER_TEST_IN_LAB"
	labUnit = "HOSTLER_TEST_UNIT"
	// listenAddress makes it a server that listens there.
	listenAddress = "HOSTLER_TEST_LISTEN"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(listenAddress) != "":
		os.Exit(listen(os.Getenv(listenAddress)))
	case os.Getenv(inLab) != "":
		os.Exit(m.Run())
	}
	os.Exit(lab.Main(m))
}

// listen answers every request with 204 until it is killed.
func listen(address string) int {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return 1
	}
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		return 2
	}
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	if err := http.Serve(l, http.HandlerFunc(answer)); err != nil {
		return 3
	}
	return 0
}

// TestInLab runs one test inside a host of the lab, when it is inside.
func TestInLab(t *testing.T) {
	if os.Getenv(inLab) != "" {
		inside(t)
		return
	}
	plain, withGuest := []string{"contract", "units", "kernel", "network", "commands", "locks"}, []string{"machine", "stale", "user-namespaces"}
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		runAll(t, lab.Up(t, lab.Options{Name: "plain"}), plain)
	})
	t.Run("guest", func(t *testing.T) {
		t.Parallel()
		h := lab.Up(t, lab.Options{Name: "outer"})
		h.Machine(guest)
		runAll(t, h, withGuest)
	})
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		runAll(t, lab.Up(t, lab.Options{Name: "bare", Variants: []lab.Variant{lab.NoSystemdContainer}}), []string{"no-machined"})
	})
}

// runAll runs the tests one after the other, each in a unit of its own.
func runAll(t *testing.T, h *lab.Host, names []string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.PushFile("/opt/linux.test", self, 0o755)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			unit := "hostler-test-" + name + ".service"
			r := h.Exec("systemd-run", "--quiet", "--pipe", "--wait", "--collect", "--unit="+unit,
				"--setenv="+inLab+"="+name, "--setenv="+labUnit+"="+unit,
				"/opt/linux.test", "-test.run=^TestInLab$", "-test.v", "-test.timeout=4m")
			if r.Code != 0 {
				t.Errorf("in the lab: %s", r)
			}
		})
	}
}
