package waitfor_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	waitfor "hostler/builtins/blocks/wait_for"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// later is a host on which things come about after some looks of a program or
// server, or a while.
func later() *memory.Memory {
	asked, served := 0, 0
	return memory.New(memory.Options{
		Executables: []string{"probe"},
		Units:       []memory.Unit{{Name: "demo.service", Running: true}, {Name: "broken.service", Running: true}, {Name: "idle.service"}},
		Scripts: map[string]memory.Script{"broken.service": func(int) memory.Outcome {
			return memory.Outcome{Ends: true, Status: 3, Log: []string{"no configuration"}}
		}},
		Files: map[string]memory.File{"/run/there": {}},
		Programs: map[string]memory.Program{"probe": func(memory.Invocation) host.CommandResult {
			if asked++; asked < 3 {
				return host.CommandResult{ExitCode: 7}
			}
			return host.CommandResult{}
		}},
		Network: memory.Network{
			Listeners: []host.ListenerState{{Address: "0.0.0.0:6443", PID: 9}},
			HTTP: map[string]http.Handler{"api.example.com": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if served++; served < 3 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				w.WriteHeader(http.StatusForbidden)
			})},
		},
	})
}

func TestContract(t *testing.T) {
	for name, c := range map[string]blocktest.Case{
		"file":    {Body: `file = "/run/there"`, Quiet: true},
		"unit":    {Body: `unit = "demo.service"`, Quiet: true},
		"address": {Body: `address = "127.0.0.1:6443"`, Quiet: true},
		"command": {Body: `command = ["probe"]`, Unforeseen: true, Names: []string{"command probe"}},
	} {
		c.Type = waitfor.Type()
		c.Host = func(*testing.T) host.Host { return later().Host() }
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

func TestItWaitsUntilReady(t *testing.T) {
	for body, action := range map[string]block.Action{
		`command = ["probe"]`:                    block.ActionUnknown,
		`url = "http://api.example.com/healthz"`: block.ActionRun,
	} {
		h := later().Host()
		s := blocktest.NewStage(h)
		began := h.Clock.Monotonic()
		step := blocktest.Step(t, waitfor.Type(), body+"\ninterval = \"7s\"")
		if change := s.MustCheck(t, step); change.Action != action {
			t.Errorf("%s: %+v", body, change)
		}
		s.MustApply(t, step)
		if waited := h.Clock.Monotonic() - began; waited < 7*time.Second || waited > 15*time.Second {
			t.Errorf("%s: it waited %s", body, waited)
		}
	}
}

func TestItGivesUp(t *testing.T) {
	for body, wants := range map[string][]string{
		`file = "/run/never"`:                  {"file /run/never", "not ready after 10s", "it is not there"},
		`unit = "idle.service"`:                {"unit idle.service", "it is inactive"},
		`unit = "gone.service"`:                {"unit gone.service", "no such unit"},
		`unit = "broken.service"`:              {"unit broken.service", "failed (exit-code)", "it logged:", "no configuration"},
		`address = "127.0.0.1:80"`:             {"address 127.0.0.1:80", "nothing listens there"},
		`address = "[::1]:443"`:                {"nothing listens there"},
		`url = "http://nowhere.example.com/x"`: {"url http://nowhere.example.com/x", "it does not answer"},
		`command = ["false"]`:                  {"command false", "exit status 1"},
	} {
		m := later()
		m.Advance(time.Second)
		h := m.Host()
		began := h.Clock.Monotonic()
		err := blocktest.NewStage(h).Apply(blocktest.Step(t, waitfor.Type(), body+"\ntimeout = \"10s\"\ninterval = \"3s\""))
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not hold %q", body, err, want)
			}
		}
		if waited := h.Clock.Monotonic() - began; waited != 10*time.Second {
			t.Errorf("%s: it waited %s", body, waited)
		}
	}
}

func TestAnErrorEndsTheWait(t *testing.T) {
	err := blocktest.NewStage(later().Host()).Apply(blocktest.Step(t, waitfor.Type(), `command = ["gone"]`))
	if !errors.Is(err, host.ErrNoTool) {
		t.Error(err)
	}
	h := later().Host()
	step := blocktest.Step(t, waitfor.Type(), `file = "/run/never"`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := step.Apply(ctx, blocktest.NewStage(h).Do()); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/run/never") {
		t.Error(err)
	}
}

func TestOfflineItIsLeftToTheRunningHost(t *testing.T) {
	h := memory.New(memory.Options{Offline: true, Files: map[string]memory.File{"/run/there": {}}}).Host()
	s := blocktest.NewStage(h)
	for body, deferred := range map[string]bool{
		`file = "/run/there"`: false, `file = "/run/never"`: true, `unit = "a.service"`: true, `command = ["a"]`: true,
		`address = "127.0.0.1:1"`: true, `url = "http://a.example.com"`: true,
	} {
		step := blocktest.Step(t, waitfor.Type(), body)
		change := s.MustCheck(t, step)
		if change.Needed() || (len(change.Deferred) == 1) != deferred {
			t.Errorf("%s: %+v", body, change)
		}
		s.MustApply(t, step)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		``:                                    "exactly one of file, unit, command, address and url; 0 are given",
		"file = \"/x\"\nunit = \"a.service\"": "2 are given",
		"file = \"/x\"\ntimeout = \"5\"":      `write "5s"`,
		"file = \"/x\"\ninterval = \"0s\"":    "above zero",
		"file = \"/x\"\ninterval = \"-1s\"":   "negative",
		`address = "localhost"`:               "no address and port",
		`url = "ftp://x"`:                     "https://",
		`url = "https://u:p@x"`:               "leave them out",
		`unit = "x"`:                          "no unit type",
	} {
		if got := blocktest.Faults(waitfor.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
