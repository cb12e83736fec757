package editor_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/editor"
)

// recipeOf is a recipe of at least so many lines, as sites write them.
func recipeOf(lines int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; strings.Count(b.String(), "\n") < lines; i++ {
		fmt.Fprintf(&b, `
write_file_if_changed "config%[1]d" {
  path    = "/etc/demo/config%[1]d.json"
  mode    = "0640"
  content = "${jsonencode({ name = var.name, number = %[1]d })}\n"
}

systemd_unit "demo%[1]d.service" {
  content = <<-EOT
    [Unit]
    Description=Demo %[1]d
    Wants=network-online.target
    After=network-online.target

    [Service]
    ExecStart=/usr/bin/demo --config /etc/demo/config%[1]d.json --name ${var.name}
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

// BenchmarkKeystroke types into a recipe of 2,000 lines: from the change that
// the client sends to the diagnostics that it has, JSON both ways included. The
// aim is below 50 ms.
func BenchmarkKeystroke(b *testing.B) {
	c := start(b)
	uri := uriIn(b.TempDir(), "recipe.hcl")
	text := recipeOf(2000)
	c.open(uri, text)
	line := strings.Count(text[:strings.Index(text, "Description=Demo 40")], "\n")
	at := editor.Range{Start: editor.Position{Line: line, Character: 20}, End: editor.Position{Line: line, Character: 20}}
	var worst time.Duration
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program has it
	before := cpu(b)
	for b.Loop() {
		from := time.Now()
		c.edit(uri, at, "x")
		if found := c.diagnostics(uri); len(found) != 0 {
			b.Fatalf("found %+v", found)
		}
		worst = max(worst, time.Since(from))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
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

// BenchmarkCompletion asks for completion in the same recipe after a change, so
// that nothing is known of it yet.
func BenchmarkCompletion(b *testing.B) {
	c := start(b)
	uri := uriIn(b.TempDir(), "recipe.hcl")
	c.open(uri, recipeOf(2000))
	last := editor.Position{Line: 2010}
	for b.Loop() {
		c.edit(uri, editor.Range{Start: last, End: last}, "\n")
		var list editor.CompletionList
		c.call("textDocument/completion", at(uri, last), &list)
		if len(list.Items) == 0 {
			b.Fatal("nothing offered")
		}
		c.diagnostics(uri)
	}
}
