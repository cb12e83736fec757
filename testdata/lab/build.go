package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build is the path of the hostler binary made from this source tree: static,
// built once for this process.
func Build(t testing.TB) string {
	t.Helper()
	r := of(t)
	r.building.Do(func() {
		r.binary = filepath.Join(r.dir, "hostler")
		r.buildErr = build(r.binary)
	})
	if r.buildErr != nil {
		t.Fatalf("lab: %v", r.buildErr)
	}
	return r.binary
}

// Install pushes the hostler binary to a path in the host.
func (h *Host) Install(path string) {
	h.t.Helper()
	h.PushFile(path, Build(h.t), 0o755)
}

func build(target string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", target, "./cmd/hostler")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building hostler: %w\n%s", err, out)
	}
	return nil
}

// moduleRoot is the first directory from here upwards with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == "/" {
			return "", errors.New("there is no go.mod above this directory")
		}
	}
}
