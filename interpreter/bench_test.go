package interpreter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/treefs"
)

// onDisk is a rig whose files are those of a directory of this machine.
func onDisk(b testing.TB) *rig {
	b.Helper()
	root := b.TempDir()
	for name, text := range map[string]string{"etc/os-release": "ID=debian\nVERSION_ID=12\n", "etc/passwd": "root:x:0:0::/:/bin/sh\n", "etc/group": "root:x:0:\n"} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	files, err := treefs.Open(root, treefs.Options{Unprivileged: os.Geteuid() != 0})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { files.Close() })
	r := newRig(b, memory.Options{})
	r.Wrap = func(h host.Host) host.Host { h.Files = files; return h }
	return r
}

// manyFiles is a recipe with n file steps in a hundred directories.
func manyFiles(n int) given {
	return a(fmt.Sprintf(`
write_file_if_changed "f" {
  for_each = flatten([for i in range(%d) : [for j in range(100) : format("%%03d%%02d", i, j)]])
  path     = "/etc/many/${substr(each.key, 3, 2)}/${each.key}.conf"
  content  = "# file ${each.key}\nvalue = ${each.key}\n${join("", [for i in range(10) : "line of some length\n"])}"
}
`, n/100))
}

// BenchmarkEnsure is the cost of nothing: ensure on a complete, healthy host.
func BenchmarkEnsure(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := onDisk(b)
			if _, err := r.Interpreter().Apply(context.Background(), r.request(manyFiles(n))); err != nil {
				b.Fatal(err)
			}
			req := r.request(nothing)
			b.ReportAllocs()
			for b.Loop() {
				out, err := r.Interpreter().Ensure(context.Background(), req)
				if err != nil || out.Changed > 0 || out.Unchanged != n {
					b.Fatalf("outcome %+v, error %v", out, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/step")
		})
	}
}

// TestEnsureIsLinear: ten times the steps are ten times the work, counted in
// allocations, which no other load on the machine changes.
func TestEnsureIsLinear(t *testing.T) {
	work := func(n int) float64 {
		r := newRig(t, memory.Options{})
		r.must(apply, manyFiles(n))
		req := r.request(nothing)
		return testing.AllocsPerRun(1, func() {
			if _, err := r.Interpreter().Ensure(context.Background(), req); err != nil {
				t.Fatal(err)
			}
		}) / float64(n)
	}
	if few, many := work(200), work(2000); many > few {
		t.Errorf("a step among 200 costs %.0f allocations, among 2000 %.0f", few, many)
	}
}
