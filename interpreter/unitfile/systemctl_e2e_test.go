//go:build e2e

package unitfile_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/unitfile"
)

// TestEnablingAsSystemctl runs the golden cases through systemctl on one tree
// and through this package on another, and compares links, states and whether
// a command is refused.
func TestEnablingAsSystemctl(t *testing.T) {
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Fatal("systemctl is needed to compare with; install systemd")
	}
	for _, c := range enablingCases(t) {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			theirs, ours := t.TempDir(), t.TempDir()
			c.seed(t, theirs)
			c.seed(t, ours)
			f := openTree(t, ours)
			for _, cmd := range c.commands {
				if cmd[len(cmd)-1] == "differs" {
					return // from here on we are stricter on purpose
				}
				want, wantErr := systemctl(theirs, cmd[0], cmd[1])
				got, err := run(f, cmd[0], cmd[1])
				if (err == nil) != (wantErr == "") {
					t.Errorf("%v: systemctl says %q, we say %v", cmd, wantErr, err)
				}
				if cmd[0] == "state" && got != want {
					t.Errorf("%v: systemctl says %q, we say %q", cmd, want, got)
				}
				if a, b := linksIn(t, theirs), linksIn(t, ours); normal(a) != normal(b) {
					t.Errorf("%v: links of systemctl:\n%s\nour links:\n%s", cmd, a, b)
				}
			}
		})
	}
}

// normal hides that some builds of systemd still write /lib, which is a link.
func normal(links string) string { return strings.ReplaceAll(links, "-> /lib/", "-> /usr/lib/") }

func systemctl(root, verb, unit string) (said, refused string) {
	if verb == "state" {
		verb = "is-enabled"
	}
	cmd := exec.Command("systemctl", "--root="+root, verb, unit)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	said = strings.TrimSpace(out.String())
	switch {
	case verb == "is-enabled" && said == "":
		return "not-found", "" // older releases print an error instead
	case verb == "is-enabled":
		return said, ""
	case strings.Contains(errs.String(), "no installation config"):
		return said, "no [Install] section" // a hint and success, see C23
	case err != nil:
		return said, errs.String() + " "
	}
	return said, ""
}

// TestDirectivesAsSystemd holds the table to what the manager itself lists.
func TestDirectivesAsSystemd(t *testing.T) {
	out, err := exec.Command("/usr/lib/systemd/systemd", "--dump-configuration-items").Output()
	if err != nil {
		t.Fatalf("systemd is needed to compare with: %v", err)
	}
	section := ""
	for _, line := range strings.Split(string(out), "\n") {
		key, kind, ok := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case ok && kind != "NOTSUPPORTED":
			if _, known := unitfile.Known(section, key); !known {
				t.Errorf("[%s] %s is not in the table", section, key)
			}
		}
	}
}
