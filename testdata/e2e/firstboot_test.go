//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

// prefix is where the hosts of these tests have their programs, and delivered
// the program that a first boot is delivered with.
const (
	prefix    = "/opt/hostler"
	delivered = prefix + "/bin/hostler"
)

// provider is what a new host needs beside it: the program by HTTP, images, and
// the program that renders.
type provider struct {
	t       *testing.T
	program string
	digest  string
	url     string
	image   string
	// asked counts requests of any kind.
	asked *atomic.Int64
}

// provide serves the program and an image of a machine.
func provide(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, program: lab.Build(t), asked: &atomic.Int64{}}
	text, err := os.ReadFile(p.program)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	p.digest = hex.EncodeToString(sum[:])
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.asked.Add(1)
			next.ServeHTTP(w, r)
		})
	}
	p.url = lab.Serve(t, count(http.FileServer(http.Dir(filepath.Dir(p.program))))) + "/hostler"
	p.image = lab.Registry(t, count).Push("guest:1", lab.GuestLayer(t))
	return p
}

// render is what hostler render writes for a recipe.
func (p *provider) render(format, recipe string, args ...string) []byte {
	p.t.Helper()
	argv := append([]string{"render", format, recipe, "--prefix", prefix, "--interpreter-url", p.url, "--interpreter-sha256", p.digest}, args...)
	cmd := exec.Command(p.program, argv...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("hostler %q: %v: %s", argv, err, errs.String())
	}
	return out
}

// inputs is a file with inputs for the recipe firstboot.
func (p *provider) inputs() string {
	p.t.Helper()
	name := filepath.Join(p.t.TempDir(), "site.hcl")
	text := "image = \"" + p.image + "\"\nsite  = \"one\"\ntoken = \"canary-95\"\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// newHost is a host that is off, as it comes from its image.
func newHost(t *testing.T, variants ...lab.Variant) *site {
	t.Helper()
	return &site{lab.New(t, lab.Options{FirstBoot: true, Variants: variants}), t}
}

// ignite has Ignition write what a host is given.
func (s *site) ignite(config []byte) {
	s.t.Helper()
	if log, err := s.Ignite(config); err != nil {
		s.t.Fatalf("%v\n%s", err, log)
	}
}

// bootUnit waits until the boot unit has ended and returns its properties.
func (s *site) bootUnit() map[string]string {
	s.t.Helper()
	var p map[string]string
	s.eventually(delivery.BootUnit+" has ended", func() bool {
		p = s.show("", delivery.BootUnit)
		return p["ActiveState"] == "active" || p["ActiveState"] == "failed" && p["SubState"] == "failed"
	})
	return p
}

// wantRun holds the boot unit to a run without fault, at the first try.
func (s *site) wantRun() {
	s.t.Helper()
	p := s.bootUnit()
	if p["ActiveState"] != "active" || p["Result"] != "success" || p["NRestarts"] != "0" || p["ExecMainStatus"] != "0" {
		s.t.Fatalf("the boot unit is %s with %s after %s restarts, code %s\n%s", p["ActiveState"], p["Result"], p["NRestarts"], p["ExecMainStatus"],
			s.MustExec("journalctl", "--unit", delivery.BootUnit, "--no-pager", "--output=cat"))
	}
}

// wantInstalled holds a host to what the recipe firstboot says.
func (s *site) wantInstalled() {
	s.t.Helper()
	for file, want := range map[string]string{
		"/etc/site/settings.json": "644 {\"site\":\"one\"}", "/etc/site/token": "600 canary-95",
		"/var/lib/machines/node1/etc/greeting": "644 hello from one",
	} {
		if got := s.MustExec("sh", "-c", "stat --format=%a "+file+"; cat "+file); strings.Join(strings.Fields(got), " ") != want {
			s.t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if got := string(s.Pull("/etc/site/asset.bin")); got != "bytes \x00\xff\n" {
		s.t.Errorf("the recipe's file came as %q", got)
	}
	for machine, unit := range map[string]string{"": "site.service", "node1": "greeter.service"} {
		if p := s.show(machine, unit); p["ActiveState"] != "active" || p["UnitFileState"] != "enabled" {
			s.t.Errorf("%s in %q is %s and %s", unit, machine, p["ActiveState"], p["UnitFileState"])
		}
	}
	if p := s.show("", delivery.DaemonUnit); p["ActiveState"] != "active" || p["UnitFileState"] != "enabled" || p["NRestarts"] != "0" {
		s.t.Errorf("the daemon is %s and %s after %s restarts", p["ActiveState"], p["UnitFileState"], p["NRestarts"])
	}
	if status, _ := s.status(); status.Phase != "complete" || len(status.Drift)+len(status.Debts)+len(status.Pending) > 0 {
		s.t.Errorf("status is %+v", status)
	}
}

// status runs the installed program.
func (s *site) status() (doc statusDoc, code int) {
	s.t.Helper()
	return documentOf[statusDoc](s, delivered, "status")
}

// firstBootDirs are those in which nothing is written on a healthy host.
func firstBootDirs() []string {
	return []string{"/etc/hostler", "/etc/site", "/etc/systemd", prefix, "/var/lib/hostler", "/var/lib/machines/node1/etc/systemd"}
}

// TestFirstBoot (H41, H42): a host is set up by Ignition with what hostler
// renders, and by nothing else. Once on a Debian that can be written to, once on
// Azure Container Linux: /usr is read-only, nothing is executed from /tmp, and
// there is no package manager.
func TestFirstBoot(t *testing.T) {
	acl, err := os.ReadFile("../os-release/acl.os-release")
	if err != nil {
		t.Fatal(err)
	}
	for name, variants := range map[string][]lab.Variant{
		"debian":                nil,
		"azure-container-linux": {lab.ReadOnlyUsr, lab.NoexecTmp, lab.NoPackageManager, lab.OSRelease(string(acl))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provide(t)
			s := newHost(t, variants...)
			bare := s.paths()
			config := p.render("ignition", "recipes/firstboot", "--inputs", p.inputs())
			s.ignite(config)
			for _, part := range []struct {
				name string
				run  func(*site)
			}{
				{"first boot", firstBoot},
				{"R201 reboot", func(s *site) { quietReboot(s, p) }},
				{"R202 damaged", damaged},
				{"H41 reset", func(s *site) { firstBootReset(s, bare) }},
				{"H42 reinstall", func(s *site) { reinstall(s, config) }},
			} {
				if !t.Run(part.name, func(t *testing.T) {
					here := *s
					here.t = t
					part.run(&here)
				}) {
					return // the next part stands on this one
				}
			}
		})
	}
}
