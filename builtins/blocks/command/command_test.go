package command_test

import (
	"errors"
	"strings"
	"testing"

	"hostler/builtins/blocks/command"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
)

// keygen makes /etc/key once and counts its runs.
func keygen(runs *int, exit int) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		return memory.New(memory.Options{
			Files: map[string]memory.File{"/etc": {Dir: true}}, Executables: []string{"keygen", "silent"},
			Programs: map[string]memory.Program{"keygen": func(i memory.Invocation) host.CommandResult {
				*runs++
				if err := host.Replace(i.Host.Files, "/etc/key", host.Content{Mode: 0o600}); err != nil {
					return host.CommandResult{ExitCode: 9, Stderr: []byte(err.Error())}
				}
				return host.CommandResult{ExitCode: exit}
			}},
		}).Host()
	}
}

func TestContract(t *testing.T) {
	var runs int
	blocktest.Run(t, blocktest.Case{
		Type: command.Type(), Host: keygen(&runs, 0), Leaves: true, Names: []string{"command keygen"},
		Body: "argv = [\"keygen\"]\ncreates = \"/etc/key\"",
	})
	blocktest.Run(t, blocktest.Case{
		Type: command.Type(), Host: keygen(&runs, 0), Leaves: true, Unforeseen: true, Names: []string{"command keygen"},
		Body: "argv = [\"keygen\"]\nunless = [\"false\"]",
	})
	blocktest.Run(t, blocktest.Case{
		Type: command.Type(), Host: keygen(&runs, 0), Leaves: true, Unforeseen: true, Names: []string{"command keygen"},
		Body: `argv = ["keygen"]`,
	})
}

func TestGuards(t *testing.T) {
	for body, want := range map[string]struct {
		runs   int
		action block.Action
	}{
		"argv = [\"keygen\"]\ncreates = \"/etc/key\"": {1, block.ActionRun},
		"argv = [\"keygen\"]\ncreates = \"/etc\"":     {0, block.ActionNone},
		"argv = [\"keygen\"]\nunless = [\"true\"]":    {0, block.ActionUnknown},
		"argv = [\"keygen\"]\nunless = [\"false\"]":   {1, block.ActionUnknown},
		"argv = [\"keygen\"]":                         {1, block.ActionUnknown},
	} {
		var runs int
		s := blocktest.NewStage(keygen(&runs, 0)(t))
		step := blocktest.Step(t, command.Type(), body)
		if change := s.MustCheck(t, step); change.Action != want.action {
			t.Errorf("%s: %+v", body, change)
		}
		s.MustApply(t, step)
		if runs != want.runs {
			t.Errorf("%s: %d runs", body, runs)
		}
	}
}

func TestWithoutAGuardItRunsEveryTime(t *testing.T) {
	var runs int
	s := blocktest.NewStage(keygen(&runs, 0)(t))
	for range 2 {
		step := blocktest.Step(t, command.Type(), `argv = ["keygen"]`)
		if change := s.MustCheck(t, step); !strings.Contains(change.Reason, "no guard") {
			t.Errorf("%+v", change)
		}
		s.MustApply(t, step)
	}
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
}

func TestFailures(t *testing.T) {
	var runs int
	s := blocktest.NewStage(keygen(&runs, 4)(t))
	err := s.Apply(blocktest.Step(t, command.Type(), `argv = ["keygen", "secret"]`))
	if block.Passing(err) != block.FaultExit || !strings.Contains(err.Error(), "command keygen: keygen: exit status 4") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a failing program: %v", err)
	}
	err = s.Apply(blocktest.Step(t, command.Type(), `argv = ["gone"]`))
	if !errors.Is(err, host.ErrNoTool) || block.Passing(err) != "" {
		t.Errorf("a missing program: %v", err)
	}
	err = s.Apply(blocktest.Step(t, command.Type(), "argv = [\"true\"]\nunless = [\"gone\"]"))
	if !errors.Is(err, host.ErrNoTool) || !strings.Contains(err.Error(), "unless") {
		t.Errorf("a missing guard: %v", err)
	}
	err = s.Apply(blocktest.Step(t, command.Type(), "argv = [\"silent\"]\ncreates = \"/etc/nothing\""))
	if err == nil || !strings.Contains(err.Error(), "/etc/nothing is not there") {
		t.Errorf("a program that does not make its file: %v", err)
	}
}

// What a plan tried on a shadow says nothing about the host.
func TestAPlanDoesNotCountAsARun(t *testing.T) {
	var runs int
	h := keygen(&runs, 0)(t)
	step := blocktest.Step(t, command.Type(), `argv = ["keygen"]`)
	if err := blocktest.NewStage(shadow.Over(h.View()).Host()).Apply(step); !errors.Is(err, host.ErrUnknown) {
		t.Fatalf("on a shadow: %v", err)
	}
	blocktest.NewStage(h).MustApply(t, step)
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		``:                             "argv is required",
		`argv = []`:                    "starts with the program",
		`argv = ["", "x"]`:             "starts with the program",
		`argv = ["systemctl restart"]`: "no shell splits it",
		"argv = [\"a\\u0000\"]":        "NUL",
		`argv = ["a", null]`:           "null",
		"argv = [\"a\"]\ncreates = \"/x\"\nunless = [\"b\"]": "not both",
		"argv = [\"a\"]\ncreates = \"x\"":                    "write an absolute path",
	} {
		if got := blocktest.Faults(command.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
