//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"hostler/testdata/lab"
)

// site is a host with the hostler program in it.
type site struct {
	*lab.Host
	t *testing.T
}

// settle boots a host for a site.
func settle(t *testing.T, options lab.Options) *site {
	t.Helper()
	return &site{up(t, options), t}
}

// recipe puts a recipe of testdata into the host and returns its path there.
func (s *site) recipe(name string) string {
	s.t.Helper()
	dir := path.Join("/root", path.Base(name))
	s.PushTree(dir, name)
	return dir
}

// write makes a recipe of steps alone, with the header they need, and returns
// its path in the host.
func (s *site) write(steps string) string {
	s.t.Helper()
	const header = "recipe \"trial\" {\n  language = 1\n  version = \"1.0.0\"\n  supports \"debian\" { id = \"debian\" }\n  fingerprint = fingerprint({})\n}\n\n"
	s.Push("/root/trial.hcl", []byte(header+steps), 0o644)
	return "/root/trial.hcl"
}

// outcome is how a command that changes the host ended.
type outcome struct {
	lab.Result
	events []event
}

// event is a line of the JSON output.
type event struct {
	Type, Stage, Address, Action, Reason, Error, Machine, Result, Phase string
	Changed                                                             bool
	Deferred                                                            []string
	Pending                                                             []struct{ Machine, Needs, Reason string }
	Diagnostic                                                          struct{ Severity, Summary, Detail, Address string }
	Identity                                                            struct {
		InstallationID string `json:"installation_id"`
	}
}

// hostler runs the program and reads its events.
func (s *site) hostler(args ...string) outcome {
	s.t.Helper()
	return eventsOf(s.t, s.Exec(append([]string{program}, append(args, "--output", "json")...)...))
}

func eventsOf(t *testing.T, res lab.Result) outcome {
	t.Helper()
	o := outcome{Result: res}
	for line := range strings.Lines(res.Stdout) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("no event: %q: %v\n%s", line, err, res)
		}
		o.events = append(o.events, e)
	}
	return o
}

// must is hostler for a run that succeeds.
func (s *site) must(args ...string) outcome {
	s.t.Helper()
	o := s.hostler(args...)
	if o.Code != 0 {
		s.t.Fatalf("hostler %s: %s", strings.Join(args, " "), o)
	}
	return o
}

// changed are the addresses of the steps that changed something.
func (o outcome) changed() []string {
	var all []string
	for _, e := range o.events {
		if e.Type == "step_finished" && e.Changed {
			all = append(all, e.Address)
		}
	}
	return all
}

// failed is the step that failed and how.
func (o outcome) failed() (address, why string) {
	for _, e := range o.events {
		if e.Type == "step_finished" && e.Error != "" {
			return e.Address, e.Error
		}
	}
	return "", ""
}

func (o outcome) last() event {
	if len(o.events) == 0 {
		return event{}
	}
	return o.events[len(o.events)-1]
}

// warnings are the diagnostics of a run, one a line.
func (o outcome) warnings() string {
	var b strings.Builder
	for _, e := range o.events {
		if e.Type == "diagnostic" {
			fmt.Fprintf(&b, "%s: %s: %s\n", e.Diagnostic.Address, e.Diagnostic.Summary, e.Diagnostic.Detail)
		}
	}
	return b.String()
}

// wantChanged holds a run to the steps that it changes.
func (s *site) wantChanged(o outcome, want ...string) {
	s.t.Helper()
	got := o.changed()
	if !slices.Equal(got, want) {
		s.t.Errorf("changed %q, want %q\n%s", got, want, o)
	}
}

// document runs a command that writes one JSON document.
func document[T any](s *site, args ...string) (doc T, code int) {
	s.t.Helper()
	return documentOf[T](s, program, args...)
}

// documentOf is document of a program elsewhere in the host.
func documentOf[T any](s *site, program string, args ...string) (doc T, code int) {
	s.t.Helper()
	res := s.Exec(append([]string{program}, append(args, "--output", "json")...)...)
	if err := json.Unmarshal([]byte(res.Stdout), &doc); err != nil {
		s.t.Fatalf("hostler %s: no document: %v\n%s", strings.Join(args, " "), err, res)
	}
	return doc, res.Code
}

// show are properties of a unit, by name; of one inside when machine is set.
func (s *site) show(machine, unit string) map[string]string {
	s.t.Helper()
	argv := []string{"systemctl", "show", unit}
	if machine != "" {
		argv = []string{"systemctl", "--machine=" + machine, "show", unit}
	}
	p := map[string]string{}
	for line := range strings.Lines(s.MustExec(argv...)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		p[name] = value
	}
	return p
}

// invocation is which run of a unit this is.
func (s *site) invocation(machine, unit string) string {
	s.t.Helper()
	return s.show(machine, unit)["InvocationID"]
}

// leader is the process of a machine's init, 0 when it is not registered.
func (s *site) machineLeader(name string) string {
	s.t.Helper()
	return strings.TrimSpace(s.Exec("machinectl", "show", name, "--property=Leader", "--value").Stdout)
}

// inodes are the identities of files: those written again have another.
func (s *site) inodes(paths ...string) string {
	s.t.Helper()
	return s.MustExec(append([]string{"stat", "--format=%n %i %z %a"}, paths...)...)
}

// sh runs a line of shell that must succeed.
func (s *site) sh(line string) string {
	s.t.Helper()
	return s.MustExec("sh", "-c", line)
}

// eventually waits until something holds.
func (s *site) eventually(what string, holds func() bool) {
	s.t.Helper()
	s.within(30*time.Second, what, holds)
}

func (s *site) within(limit time.Duration, what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// holds runs lines of shell, each in a shell of its own, that must all succeed.
func (s *site) holds(what, script string) {
	s.t.Helper()
	const each = `while IFS= read -r line; do sh -c "$line" >/tmp/holds 2>&1 </dev/null || { echo "$line"; cat /tmp/holds; }; done`
	lines := strings.NewReplacer("; ", "\n", "\t", "").Replace(script) + "\n"
	if res := s.ExecInput([]byte(lines), "sh", "-c", each); res.Code != 0 || res.Stdout != "" {
		s.t.Errorf("%s: these fail:\n%s", what, res)
	}
}
