package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCheckersAreNotLinked: Ignition's own packages and Prometheus' check what we
// write in tests, and are no part of the program.
func TestCheckersAreNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Fatalf("only %d packages: the list is not what it should be", len(deps))
	}
	for _, dep := range deps {
		for _, tests := range []string{"github.com/coreos/ignition", "github.com/coreos/vcontext", "github.com/aws/", "github.com/vincent-petithory/dataurl", "github.com/prometheus/"} {
			if strings.HasPrefix(dep, tests) {
				t.Errorf("the program links %s", dep)
			}
		}
	}
}
