package rules_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

// recipeOf is a recipe of at least so many lines, as sites write them.
func recipeOf(lines int) string {
	var b strings.Builder
	b.WriteString(preamble + "\nvariable \"address\" {\n  type = string\n}\n")
	for i := 0; strings.Count(b.String(), "\n") < lines; i++ {
		fmt.Fprintf(&b, `
write_file_if_changed "config%[1]d" {
  path    = "/etc/demo/config%[1]d.json"
  mode    = "0640"
  content = "${jsonencode({ address = var.address, number = %[1]d })}\n"
}

systemd_unit "demo%[1]d.service" {
  content = <<-EOT
    [Unit]
    Description=Demo %[1]d
    Wants=network-online.target
    After=network-online.target

    [Service]
    ExecStart=/usr/bin/demo --config /etc/demo/config%[1]d.json --address ${var.address}
    Restart=on-failure
    RestartSec=5s

    [Install]
    WantedBy=multi-user.target
  EOT
  enable  = true
  state   = "started"
}

restart_on_change "demo%[1]d.service" {
  watch = [write_file_if_changed.config%[1]d, systemd_unit["demo%[1]d.service"]]
}
`, i)
	}
	return b.String()
}

// BenchmarkLint1000 lints a thousand recipes of 200 lines with every rule. The
// aim is below two seconds and 200 MB; the peak is that of the process.
func BenchmarkLint1000(b *testing.B) {
	text := []byte(recipeOf(200))
	inputs := make([]lint.Input, 1000)
	for i := range inputs {
		inputs[i] = lint.Input{Source: eval.Tree(fmt.Sprintf("r%d", i), fstest.MapFS{"recipe.hcl": {Data: text}}, "."), Tested: true, Config: strict()}
	}
	l := linter()
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		for _, res := range l.All(inputs) {
			if len(res.Findings) > 0 {
				b.Fatal(show(res.Findings[0]))
			}
		}
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(peak(b), "MB-peak")
}

// cpu is the time of processors that the process has used; on a machine that is
// shared with others it says more than the clock on the wall.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLintOne lints one recipe of 2,000 lines, as an editor does after a
// keystroke.
func BenchmarkLintOne(b *testing.B) {
	text := []byte(recipeOf(2000))
	in := lint.Input{Source: eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: text}}, "."), Tested: true, Config: strict()}
	l := linter()
	b.ReportAllocs()
	for b.Loop() {
		if res := l.Lint(in); len(res.Findings) > 0 {
			b.Fatal(show(res.Findings[0]))
		}
	}
}

// peak is the most memory that the process has had, in MB; 0 where that is not
// told.
func peak(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
