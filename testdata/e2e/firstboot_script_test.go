//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

// TestR156ScriptedInstall: the script sets up a host that runs, with a /tmp that
// nothing is executed from. Running it again does nothing more (R210); one that
// fetches something else installs nothing.
func TestR156ScriptedInstall(t *testing.T) {
	t.Parallel()
	p := provide(t)
	s := &site{lab.Up(t, lab.Options{Variants: []lab.Variant{lab.NoexecTmp}}), t}
	bare := s.paths()
	const asset = "write_file_if_changed \"f\" {\n  path    = \"/etc/trial/f\"\n  content = \"it's here\\n\"\n}\n"
	script := p.render("script", p.trial(asset))

	other := *p
	other.digest = strings.Repeat("0", 64)
	res := s.ExecInput(other.render("script", p.trial(asset)), "sh")
	if res.Code != 1 || !strings.Contains(res.Stderr, "its digest is another one") {
		t.Errorf("with another program: %s", res)
	}
	s.wantGone(bare)

	for _, round := range []string{"first", "again"} {
		if res := s.ExecInput(script, "sh"); res.Code != 0 {
			t.Fatalf("%s: %s", round, res)
		}
		s.wantRun()
		if got := s.sh("cat /etc/trial/f; ls /var/lib/hostler"); !strings.HasPrefix(got, "it's here") || strings.Contains(got, "install.") {
			t.Errorf("%s: %s", round, got)
		}
	}

	// A link to nothing where the program goes is replaced (R155).
	s.sh(delivered + " reset")
	s.wantGone(bare)
	s.sh("mkdir -p " + prefix + "/bin; ln -s nothing " + delivered)
	whole := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(script) }))
	pointer := p.render("script", p.trial(asset+"# another\n"), "--pointer-url", whole+"/whole", "--pointer-file", t.TempDir()+"/whole")
	if res := s.ExecInput(pointer, "sh"); res.Code != 1 || !strings.Contains(res.Stderr, "its digest is another one") {
		t.Errorf("a pointer to another script: %s", res)
	}
	pointer = p.render("script", p.trial(asset), "--pointer-url", whole+"/whole", "--pointer-file", t.TempDir()+"/whole")
	if res := s.ExecInput(pointer, "sh"); res.Code != 0 {
		t.Errorf("by a pointer: %s", res)
	}
	s.wantRun()
	if got := s.MustExec("stat", "--format=%F %a", delivered); got != "regular file 755" {
		t.Errorf("the program is a %s", got)
	}
	if u := s.show("", delivery.BootUnit); u["UnitFileState"] != "enabled" {
		t.Errorf("the boot unit is %s", u["UnitFileState"])
	}
	s.Reboot()
	s.wantRun()
}
