package delivery

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPathsFollowThePrefix(t *testing.T) {
	paths := append(Delivered("/opt/h"), Current("/opt/h"), LastGood("/opt/h"), Next("/opt/h"), Slots("/opt/h")[0], Slots("/opt/h")[1])
	for i, name := range paths {
		if filepath.Clean(name) != name || name[0] != '/' {
			t.Errorf("%q is no clean absolute path", name)
		}
		if slices.Contains(paths[:i], name) {
			t.Errorf("%q twice", name)
		}
		if !strings.HasPrefix(name, "/opt/h/bin/hostler") && !strings.HasPrefix(name, "/etc/") {
			t.Errorf("%q is neither below the prefix nor in /etc", name)
		}
	}
}

func TestIsDelivered(t *testing.T) {
	for name, want := range map[string]bool{
		"/opt/h/bin/hostler": true, "/var/lib/hostler/install.Ab12/hostler": true,
		"/opt/h/bin/hostler-blue": false, "/usr/local/bin/hostler": false, "/root/hostler": false,
	} {
		if got := IsDelivered("/opt/h", name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestBootUnitLines(t *testing.T) {
	text := Boot{
		Prefix: "/opt/h", Recipe: "recipe:x", Inputs: []string{InputsHCL, "/etc/site.json"},
		Credentials: map[string]string{"token": CredentialsDir + "/token", "ca": "/etc/ca", "key": ""},
	}.Text()
	for _, want := range []string{
		"\nExecStart=-/opt/h/bin/hostler preflight recipe:x --inputs /etc/hostler/inputs.hcl --inputs /etc/site.json --prefix /opt/h --quiet\n" +
			"ExecStart=/opt/h/bin/hostler ensure recipe:x --inputs /etc/hostler/inputs.hcl --inputs /etc/site.json --prefix /opt/h --wait 5m\n",
		"\nLoadCredential=ca:/etc/ca\nLoadCredential=key\nLoadCredential=token:/etc/hostler/credentials/token\n",
		"\nStartLimitIntervalSec=0\n", "\nRestartPreventExitStatus=64 65 69 73\n", " hostler-daemon.service\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the boot unit lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Condition") {
		t.Error("the boot unit has a condition, so that a boot may pass it over")
	}
	if bare := (Boot{Prefix: "/usr/local"}).Text(); !strings.Contains(bare, "\nExecStart=/usr/local/bin/hostler ensure --prefix /usr/local --wait 5m\n") {
		t.Errorf("without recipe and inputs:\n%s", bare)
	}
}

func TestR109StandingDownIsNamedTwice(t *testing.T) {
	text := DaemonText("/opt/h")
	for _, want := range []string{
		"\nSuccessExitStatus=69\n", "\nRestartPreventExitStatus=69 73\n", "\nRestart=always\n", "\nOnFailure=hostler-recovery.service\n",
		"\nStartLimitIntervalSec=30min\nStartLimitBurst=5\n", "\nExecStart=/opt/h/bin/hostler-current daemon\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the daemon unit lacks %q:\n%s", want, text)
		}
	}
	if text := RecoveryText("/opt/h"); !strings.Contains(text, "\nExecStart=/opt/h/bin/hostler-last-good upgrade --rollback\n") || strings.Contains(text, "[Install]") {
		t.Errorf("the recovery unit:\n%s", text)
	}
}

func TestPlain(t *testing.T) {
	for word, want := range map[string]bool{
		"/etc/hostler/in-puts_1.hcl": true, "recipe:debian/12/x": true, "": false,
		"/a b": false, "/a%b": false, "/a$b": false, `/a"b`: false, "/a'b": false, `/a\b`: false, "/a;b": false, "/a\nb": false, "/ä": false,
	} {
		if Plain(word) != want {
			t.Errorf("Plain(%q) is %v", word, !want)
		}
	}
}

// TestR205OneName: who writes a unit of ours and who removes it have its name
// from here.
func TestR205OneName(t *testing.T) {
	files := 0
	for _, top := range []string{"../../interpreter", "../../builtins", "../../cmd"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".sh") {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			for _, unit := range Units() {
				if strings.Contains(string(text), unit) && filepath.Base(name) != "delivery.go" {
					t.Errorf("%s writes the name %s out", name, unit)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("looked at %d files only", files)
	}
}

// TestR200NoCondition: nothing keeps the boot unit from running at every boot,
// and nothing that fails early and often disables it (R204).
func TestR200NoCondition(t *testing.T) {
	text := Boot{Prefix: "/opt/h", Recipe: "recipe:x"}.Text()
	for _, word := range []string{"\nCondition", "\nAssert", "ExecCondition", "ExecStartPre"} {
		if strings.Contains(text, word) {
			t.Errorf("the boot unit has %s:\n%s", word, text)
		}
	}
	for _, line := range []string{"StartLimitIntervalSec=0", "Restart=on-failure", "RestartSec=10s", "RestartMaxDelaySec=5min", "WantedBy=multi-user.target", "TimeoutStartSec=1h"} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the boot unit lacks %s:\n%s", line, text)
		}
	}
}
