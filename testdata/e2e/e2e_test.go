//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"

	"hostler/testdata/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }

// program is where the tests put hostler in a host: off /usr, which may be
// read-only.
const program = "/opt/bin/hostler"

// up is a host with the hostler program in it.
func up(t *testing.T, options lab.Options) *lab.Host {
	t.Helper()
	lab.Build(t) // first: a host is not to wait for the compiler
	h := lab.Up(t, options)
	h.Install(program)
	return h
}

func TestProgramRunsOnAHost(t *testing.T) {
	t.Parallel()
	h := up(t, lab.Options{Variants: []lab.Variant{lab.ReadOnlyUsr, lab.NoexecTmp}})
	for name, run := range map[string]func(...string) lab.Result{"by hand": h.Exec, "in a unit": h.Run} {
		res := run(program, "version")
		if res.Code != 0 || !strings.Contains(res.Stdout, "0.") {
			t.Errorf("hostler version, %s: %s", name, res)
		}
	}
}
