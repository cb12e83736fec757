package treefs_test

import (
	"os"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/hosttest"
	"hostler/interpreter/host/treefs"
)

func open(t *testing.T, dir string, o treefs.Options) *treefs.FS {
	t.Helper()
	f, err := treefs.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// caller are the options of whoever runs the tests.
func caller() treefs.Options { return treefs.Options{Unprivileged: os.Geteuid() != 0} }

func TestContract(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files { return open(t, t.TempDir(), caller()) })
}

func TestContractUnprivileged(t *testing.T) {
	hosttest.Files(t, func(t *testing.T) host.Files {
		return open(t, t.TempDir(), treefs.Options{Unprivileged: true})
	})
}
