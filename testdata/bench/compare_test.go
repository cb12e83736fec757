//go:build e2e

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// compared measures the neighbours with the same files, on this machine, where
// they are installed; "" unless $BENCH_COMPARE asks for it. They take minutes.
func compared(t *testing.T) string {
	t.Helper()
	if os.Getenv("BENCH_COMPARE") != "1" {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| neighbour | files | wall | CPU | memory |\n|---|---|---|---|---|\n")
	for _, n := range []int{100, 1000} {
		for _, tool := range []neighbour{ansible{}, puppet{}} {
			if n > tool.most() {
				continue
			}
			c := neighbourly(t, tool, n)
			fmt.Fprintf(&b, "| %s | %d | %v | %v | %.1f MB |\n", tool.name(), n, c.wall.Round(time.Millisecond), c.cpu().Round(time.Millisecond), float64(c.rss)/(1<<20))
		}
	}
	return b.String()
}

// neighbour is a tool that can bring files in place.
type neighbour interface {
	name() string
	// most is the largest number of files to wait for.
	most() int
	// command writes what is needed for n files below dir and returns the
	// command that brings them there.
	command(dir string, n int) ([]string, map[string]string)
}

type ansible struct{}

func (ansible) name() string { return "`ansible-playbook`, local" }
func (ansible) most() int    { return 100 }

func (ansible) command(dir string, n int) ([]string, map[string]string) {
	var b strings.Builder
	b.WriteString("- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "    - copy: {dest: %s/%04d.conf, content: \"file %04d\\n\", mode: \"0644\"}\n", dir, i, i)
	}
	return []string{"ansible-playbook", "-i", "localhost,", "site.yml"}, map[string]string{"site.yml": b.String()}
}

type puppet struct{}

func (puppet) name() string { return "`puppet apply`" }
func (puppet) most() int    { return 1000 }

func (puppet) command(dir string, n int) ([]string, map[string]string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "file { '%s/%04d.conf': content => \"file %04d\\n\", mode => '0644' }\n", dir, i, i)
	}
	return []string{"puppet", "apply", "site.pp"}, map[string]string{"site.pp": b.String()}
}

// neighbourly runs a neighbour until it has nothing to do and measures that.
func neighbourly(t *testing.T, tool neighbour, n int) cost {
	t.Helper()
	dir, work := t.TempDir(), t.TempDir()
	argv, files := tool.command(dir, n)
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Fatalf("%v; run BENCH_COMPARE=1 testdata/bench/prepare", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var lines strings.Builder
	for i := range 4 {
		cmd := exec.Command("go", append([]string{"run", "./measure", "1", "env", "-C", work}, argv...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v: %s", argv, err, out)
		}
		if i > 0 { // the first one made the files
			lines.Write(out)
		}
	}
	return medians(t, lines.String())
}
