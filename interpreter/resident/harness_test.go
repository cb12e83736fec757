package resident

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/delivery"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/fault"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

const (
	bin    = "/usr/local/bin/"
	recipe = `recipe "site" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({})
  supports "debian" { id = "debian" }
}
write_file_if_changed "a" {
  path    = "/etc/a.conf"
  content = "a\n"
}
write_file_if_changed "b" {
  path     = "/etc/b.conf"
  content  = "b\n"
  on_drift = "report"
}
interpreter_install "hostler" {}
`
)

// site is a host with an interpreter on it. What a program does is in its text:
// one that holds "crash" has a daemon that crashes, one that holds "mute" does
// not say its version.
type site struct {
	testing.TB
	*memory.Memory
	plan *fault.Plan
	own  string
	// events are those of the interpreter's runs.
	events []walk.Event
}

func newSite(t testing.TB, body string) *site {
	s := &site{TB: t, plan: fault.Count()}
	program := func(i memory.Invocation) host.CommandResult {
		text := s.read(i.Argv[0])
		if strings.Contains(text, "mute") {
			return host.CommandResult{ExitCode: 1, Stderr: []byte("exec format error")}
		}
		return host.CommandResult{Stdout: []byte("hostler " + text + "\nmore\n")}
	}
	s.Memory = memory.New(memory.Options{
		Programs: map[string]memory.Program{"hostler-blue": program, "hostler-green": program, "hostler-next": program},
		Scripts: map[string]memory.Script{delivery.DaemonUnit: func(int) memory.Outcome {
			switch text := s.read(bin + "hostler-current"); {
			case strings.Contains(text, "slow crash"):
				return memory.Outcome{Ends: true, After: time.Minute, Status: 2}
			case strings.Contains(text, "crash"):
				return memory.Outcome{Ends: true, After: time.Second, Status: 2}
			case strings.Contains(text, "stand"):
				return memory.Outcome{Ends: true, After: time.Second, Status: StoodDown}
			}
			return memory.Outcome{}
		}},
	})
	if body != "" {
		s.apply(body)
	}
	return s
}

func (s *site) interpreter() *interpreter.Interpreter {
	return &interpreter.Interpreter{
		Vocabulary: builtins.Vocabulary(), Host: fault.Wrap(s.Host(), s.plan), Rand: rand.NewChaCha8([32]byte{1}), OwnUnit: s.own,
		Program: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("old")), nil },
		Emit:    func(e walk.Event) { s.events = append(s.events, e) },
		Holder:  host.Holder{PID: 7, Command: "hostler test"},
	}
}

func (s *site) apply(body string) {
	s.Helper()
	fsys := fstest.MapFS{"recipe.hcl": &fstest.MapFile{Data: []byte(body)}}
	b := interpreter.NewBundle()
	r, diags := eval.Load(b.Source(eval.Tree("test:", fsys, ".")), builtins.Vocabulary(), b.Loader(eval.StandardLoader{}), "")
	if diags.HasErrors() {
		s.Fatal(diags)
	}
	_, err := s.interpreter().Apply(context.Background(), interpreter.Request{Recipe: r, Bundle: b})
	s.ok(err)
}

func (s *site) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) read(name string) string {
	b, err := thing.ReadAll(s.Host().Files, name)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

func (s *site) put(name, text string) {
	s.Helper()
	s.ok(host.Replace(s.Host().Files, name, host.Content{Bytes: []byte(text), Mode: 0o755}))
}

func (s *site) unit(name string) host.UnitState {
	s.Helper()
	u, err := s.Host().Units.Unit(context.Background(), name)
	s.ok(err)
	return u
}

func (s *site) store() *record.Store { return record.NewStore(s.Host(), rand.NewChaCha8([32]byte{2})) }

// phase puts the record into a phase.
func (s *site) phase(p record.Phase) {
	s.Helper()
	rec, err := s.store().Load(context.Background())
	s.ok(err)
	rec.Phase = p
	s.ok(s.store().Save(context.Background(), rec))
}

// runs compares what is called by the links.
func (s *site) runs(current, good string) {
	s.Helper()
	for name, want := range map[string]string{"hostler-current": current, "hostler-last-good": good} {
		if got := s.read(bin + name); got != want {
			s.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func (s *site) upgrade(program string) (Done, error) {
	return Upgrade{Interpreter: s.interpreter()}.Run(context.Background(), []byte(program))
}
