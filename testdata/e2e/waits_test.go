//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"hostler/testdata/lab"
)

// waits: what comes about is waited for, what does not is said.
func waits(s *site) {
	asked := 0
	url := lab.Serve(s.t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	s.sh("rm -f /run/late")
	s.MustExec("systemd-run", "--quiet", "--unit=late", "sh", "-c", "sleep 1; echo x >/run/late; exec systemd-socket-activate --listen=127.0.0.1:7771 cat")
	recipe := s.write(fmt.Sprintf(`wait_for "url" {
  url      = %q
  interval = "200ms"
}
wait_for "file" {
  file     = "/run/late"
  interval = "200ms"
}
wait_for "address" {
  address  = "127.0.0.1:7771"
  interval = "200ms"
}
wait_for "unit" { unit = "late.service" }
wait_for "command" {
  command  = ["grep", "-q", "x", "/run/late"]
  interval = "200ms"
}
`, url))
	if o := s.must("apply", recipe); !slices.Contains(o.changed(), "wait_for.file") {
		s.t.Errorf("changed %q", o.changed())
	}
	s.wantChanged(s.must("apply", recipe))
	s.sh("systemctl stop late.service")
	for what, want := range map[string]string{
		`file = "/run/never"`:         "file /run/never: not ready after 1s: it is not there",
		`address = "127.0.0.1:7771"`:  "address 127.0.0.1:7771: not ready after 1s: nothing listens there",
		`unit = "late.service"`:       "unit late.service: not ready after 1s",
		`url = "http://10.77.0.1:1/"`: "it does not answer",
		`command = ["false"]`:         "command false: not ready after 1s: false: exit status 1",
	} {
		o := s.hostler("apply", s.write("wait_for \"w\" {\n "+what+"\n timeout = \"1s\"\n interval = \"300ms\"\n}\n"))
		if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, want) {
			s.t.Errorf("%s: %s", what, o)
		}
	}
}

// commands: a guard makes a command run when it has to, and then only.
func commands(s *site) {
	recipe := s.write(`command "creates" {
  argv    = ["sh", "-c", "echo x >>/run/created"]
  creates = "/run/created"
}
command "unless" {
  argv   = ["sh", "-c", "echo x >>/run/unless"]
  unless = ["test", "-e", "/run/unless"]
}
`)
	s.sh("rm -f /run/created /run/unless")
	s.wantChanged(s.must("apply", recipe), "command.creates", "command.unless")
	record := s.inodes("/var/lib/hostler/record.json")
	s.wantChanged(s.must("apply", recipe))
	s.wantChanged(s.must("ensure"))
	if now := s.inodes("/var/lib/hostler/record.json"); now != record {
		s.t.Errorf("the record is %s, was %s", now, record)
	}
	s.script("run once", "test $(wc -l </run/created) = 1; test $(wc -l </run/unless) = 1")
	for argv, want := range map[string]string{
		`["sh", "-c", "echo why >&2; exit 7"]`: "command sh: sh: exit status 7: why",
		`["no-such-program"]`:                  "no-such-program",
		`["sh", "-c", "kill -9 $$"]`:           "signal SIGKILL",
	} {
		o := s.hostler("apply", s.write("command \"c\" { argv = "+argv+" }\n"))
		if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, want) {
			s.t.Errorf("%s: %s", argv, o)
		}
	}
	o := s.hostler("apply", s.write("command \"c\" {\n argv = [\"sleep\", \"60\"]\n timeout = \"1s\"\n}\n"))
	if _, why := o.failed(); o.Code != 1 || !strings.Contains(why, "timeout of 1s") || s.Exec("pgrep", "-x", "sleep").Code == 0 {
		s.t.Errorf("a command that takes too long: %s", o)
	}
}
