// Command authoring measures what those who write recipes wait for: hostler lint
// on a thousand recipes of 200 lines and hostler validate on one, as whole
// programs, beside tofu and tflint on files of the same size where those are
// installed. Each is run some times; the least of the times on the wall is
// shown, because the machine may have had something else to do in the others.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	recipes = 1000
	lines   = 200
	times   = 5
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "authoring:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	dir, err := os.MkdirTemp("", "hostler-authoring")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "hostler")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/hostler")
	build.Stderr = os.Stderr
	if err := errors.Join(build.Run(), write(dir)); err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "\twall ms\tcpu ms\tMB\t")
	all, one, tofu := filepath.Join(dir, "all"), filepath.Join(dir, "all/r0"), filepath.Join(dir, "tofu")
	for _, c := range []struct {
		name, in string
		argv     []string
	}{
		{fmt.Sprintf("hostler lint, %d recipes of %d lines", recipes, lines), dir, []string{program, "lint", all}},
		{fmt.Sprintf("hostler lint, one of %d lines", lines), dir, []string{program, "lint", one}},
		{fmt.Sprintf("hostler validate, one of %d lines", lines), dir, []string{program, "validate", one}},
		{fmt.Sprintf("tofu validate, one of %d lines", lines), tofu, []string{"tofu", "validate"}},
		{fmt.Sprintf("tflint, one of %d lines", lines), tofu, []string{"tflint"}},
	} {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			fmt.Fprintf(out, "%s\tnot installed\t\t\t\n", c.name)
			continue
		}
		best, err := measure(c.in, c.argv)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(out, "%s\t%.1f\t%.1f\t%.0f\t\n", c.name, ms(best.wall), ms(best.cpu), float64(best.kb)/1024)
	}
	return out.Flush()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cost is what a run took; kb is the most memory it had.
type cost struct {
	wall, cpu time.Duration
	kb        int64
}

// measure is the cheapest of some runs.
func measure(dir string, argv []string) (best cost, err error) {
	for i := range times + 1 {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		from := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return cost{}, fmt.Errorf("%w: %s", err, out)
		}
		c := cost{wall: time.Since(from), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			c.kb = u.Maxrss
		}
		if i == 1 || i > 1 && c.wall < best.wall { // the first reads from the disk
			best = c
		}
	}
	return best, nil
}

// write writes the recipes, and a configuration of the same size for the others.
func write(dir string) error {
	text := recipe()
	for i := range recipes {
		at := filepath.Join(dir, "all", fmt.Sprintf("r%d", i))
		if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "recipe.hcl"), []byte(text), 0o644)); err != nil {
			return err
		}
	}
	at := filepath.Join(dir, "tofu")
	return errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "main.tf"), []byte(configuration()), 0o644))
}

const head = `recipe "demo" {
  language    = 1
  version     = "1.0.0"
  description = "A demonstration"
  fingerprint = fingerprint({ address = var.address })

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }
}

variable "address" {
  type = string
}
`

const part = `
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
`

func recipe() string { return grown(head, part) }

const otherHead = `terraform {
  required_version = ">= 1.5"
}

variable "address" {
  type = string
}
`

const otherPart = `
resource "terraform_data" "config%[1]d" {
  input = {
    path    = "/etc/demo/config%[1]d.json"
    content = "${jsonencode({ address = var.address, number = %[1]d })}\n"
  }
}

resource "terraform_data" "unit%[1]d" {
  input = <<-EOT
    [Unit]
    Description=Demo %[1]d

    [Service]
    ExecStart=/usr/bin/demo --config ${terraform_data.config%[1]d.input.path}
  EOT
}
`

func configuration() string { return grown(otherHead, otherPart) }

// grown is a text with parts until it has its lines.
func grown(text, part string) string {
	for i := 0; strings.Count(text, "\n") < lines; i++ {
		text += fmt.Sprintf(part, i)
	}
	return text
}
