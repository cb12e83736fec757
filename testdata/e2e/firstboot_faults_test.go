//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

// trial writes a recipe of steps to a file of the machine the tests run on.
func (p *provider) trial(steps string) string {
	p.t.Helper()
	const header = "recipe \"trial\" {\n  language = 1\n  version = \"1.0.0\"\n  supports \"debian\" { id = \"debian\" }\n  fingerprint = fingerprint({})\n}\n\n"
	name := filepath.Join(p.t.TempDir(), "trial.hcl")
	if err := os.WriteFile(name, []byte(header+steps), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// downloading is a recipe that needs the network, before anything is changed and
// then again.
func downloading(url string) string {
	return `require_capability "files" { reachable = "` + url + `" }
write_file_if_changed "first" {
  path    = "/etc/trial/first"
  content = "first\n"
}
download "big" {
  url    = "` + url + `"
  sha256 = "` + trialDigest + `"
  path   = "/etc/trial/big"
}
`
}

// What the recipe downloads, and its digest.
const (
	trialContent = "big\n"
	trialDigest  = "5e46266be5fda8508117bfafcbb22d0e177a3b476ed603a39e47f1586b2ef4a3"
)

// TestR203WithoutNames: the name server is not there for the first 20 seconds of
// the boot, long after network-online.target. The unit tries again until it is,
// and says on the console what is wrong. R204.
func TestR203WithoutNames(t *testing.T) {
	t.Parallel()
	p := provide(t)
	url := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(trialContent)) }))
	address, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	s := newHost(t)
	s.ignite(p.render("ignition", p.trial(downloading("http://files.lab:"+port+"/big"))))
	s.Push("/etc/resolv.conf", []byte("nameserver "+lab.Nameserver+"\n"), 0o644)
	s.Start()
	began := time.Now()
	time.Sleep(20 * time.Second)
	s.Resolve(map[string]string{"files.lab": address})
	restarts := ""
	s.eventually("the boot unit is done", func() bool {
		u := s.show("", delivery.BootUnit)
		restarts = u["NRestarts"]
		return u["ActiveState"] == "active" && u["Result"] == "success"
	})
	if took := time.Since(began); restarts == "0" || took > 50*time.Second {
		t.Errorf("after %s and %s restarts", took, restarts)
	}
	if got := string(s.Pull("/etc/trial/big")); got != trialContent {
		t.Errorf("what was downloaded is %q", got)
	}
	if console := s.Console(); !strings.Contains(console, "files.lab") {
		t.Errorf("the console does not say what was missing:\n%s", console)
	}
}

// TestKilledFirstBoot: the power goes while the first boot installs. The next
// boot goes on from there.
func TestKilledFirstBoot(t *testing.T) {
	t.Parallel()
	p := provide(t)
	stall, asked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	url := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/big") {
			once.Do(func() { close(asked) })
			<-stall
		}
		_, _ = w.Write([]byte(trialContent))
	}))
	s := newHost(t)
	s.ignite(p.render("ignition", p.trial(strings.Replace(downloading(url+"/big"), `reachable = "`+url+`/big"`, `reachable = "`+url+`/"`, 1))))
	s.Start()
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("nothing was asked for within a minute")
	}
	s.PowerLoss(lab.LogFlush)
	if there(s.Host, "/etc/trial/big") || !there(s.Host, "/etc/trial/first") || !there(s.Host, "/var/lib/hostler/record.json") {
		t.Error("the power did not go in the middle")
	}
	close(stall)
	s.Boot()
	s.wantRun()
	if got := string(s.Pull("/etc/trial/big")); got != trialContent {
		t.Errorf("what was downloaded is %q", got)
	}
}

// TestHopelessFirstBoot: what another try cannot mend is not tried again, and
// stands on the console.
func TestHopelessFirstBoot(t *testing.T) {
	t.Parallel()
	p := provide(t)
	s := newHost(t)
	s.ignite(p.render("ignition", p.trial("write_file_if_changed \"f\" {\n  path = \"/etc/foreign.conf\"\n  content = \"ours\\n\"\n}\n")))
	s.Push("/etc/foreign.conf", []byte("theirs\n"), 0o644)
	s.Boot()
	s.wantHopeless("73", "/etc/foreign.conf")
	s.sh("rm /etc/foreign.conf; echo 'nonsense = {' >>" + delivery.RecipeDir + "/trial.hcl")
	s.Reboot()
	s.wantHopeless("65", "trial.hcl")
	if there(s.Host, "/var/lib/hostler/record.json") {
		t.Error("something was recorded")
	}
}

// wantHopeless holds the boot unit to one try that ended with a code.
func (s *site) wantHopeless(code, words string) {
	s.t.Helper()
	u := s.bootUnit()
	if u["ActiveState"] != "failed" || u["ExecMainStatus"] != code || u["NRestarts"] != "0" {
		s.t.Errorf("the boot unit is %s (%s) with code %s after %s restarts", u["ActiveState"], u["SubState"], u["ExecMainStatus"], u["NRestarts"])
	}
	if console := s.Console(); !strings.Contains(console, words) {
		s.t.Errorf("the console does not say %q:\n%s", words, console)
	}
}
