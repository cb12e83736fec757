package requirecapability_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	requirecapability "hostler/builtins/blocks/require_capability"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

const oneTool = "executable = \"nft\"\npackages = { apt = \"nftables\", dnf = \"nftables\" }"

// apt is a host whose apt-get does what run says; n counts its calls.
func apt(t *testing.T, run func(n int, i memory.Invocation) host.CommandResult) (*blocktest.Stage, *int) {
	n := new(int)
	h := memory.New(memory.Options{Executables: []string{"apt-get"}, Programs: map[string]memory.Program{
		"apt-get": func(i memory.Invocation) host.CommandResult {
			*n++
			res := run(*n, i)
			if res.ExitCode == 0 && i.Argv[1] == "install" {
				if err := host.Replace(i.Host.Files, "/usr/bin/nft", host.Content{Mode: 0o755}); err != nil {
					t.Error(err)
				}
			}
			return res
		},
	}}).Host()
	return blocktest.NewStage(h), n
}

func fails(code int, stderr string) host.CommandResult {
	return host.CommandResult{ExitCode: code, Stderr: []byte(stderr)}
}

const lockHeld = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)\n" +
	"E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n"

// C71 (a): a lock is waited for, and who holds it is said.
func TestC71ALockIsWaitedFor(t *testing.T) {
	s, n := apt(t, func(n int, _ memory.Invocation) host.CommandResult {
		if n <= 3 {
			return fails(100, lockHeld)
		}
		return host.CommandResult{}
	})
	began := s.Host.Clock.Monotonic()
	s.MustApply(t, blocktest.Step(t, requirecapability.Type(), oneTool))
	if waited := s.Host.Clock.Monotonic() - began; *n != 5 || waited < 15*time.Second {
		t.Errorf("%d calls within %s", *n, waited)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Detail, "process 812 (unattended-upgr)") {
		t.Errorf("%+v", s.Warnings)
	}
}

// C71 (a): the wait has an end, and its error names the holder.
func TestC71TheWaitForALockHasAnEnd(t *testing.T) {
	s, _ := apt(t, func(int, memory.Invocation) host.CommandResult { return fails(100, lockHeld) })
	began := s.Host.Clock.Monotonic()
	err := s.Apply(blocktest.Step(t, requirecapability.Type(), oneTool))
	if block.Passing(err) != block.FaultBusy || !strings.Contains(err.Error(), "process 812 (unattended-upgr), and did not let go within 5m0s") {
		t.Error(err)
	}
	if waited := s.Host.Clock.Monotonic() - began; waited < 5*time.Minute || waited > 6*time.Minute {
		t.Errorf("waited %s", waited)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	cancel()
	if err := blocktest.Step(t, requirecapability.Type(), oneTool).Apply(ctx, s.Do()); err == nil {
		t.Error("a cancelled wait succeeds")
	}
}

// C71 (b): a question finds nobody: there is nothing to read and no terminal.
func TestC71AQuestionIsNotWaitedFor(t *testing.T) {
	s, _ := apt(t, func(_ int, i memory.Invocation) host.CommandResult {
		answer, err := io.ReadAll(i.Stdin)
		env := strings.Join(i.Env, " ")
		if err != nil || len(answer) > 0 || !strings.Contains(env, "DEBIAN_FRONTEND=noninteractive") || !strings.Contains(env, "NEEDRESTART_SUSPEND=1") {
			return fails(1, "asked "+env)
		}
		return host.CommandResult{}
	})
	s.MustApply(t, blocktest.Step(t, requirecapability.Type(), oneTool))
}

// C71 (c) and the rest of what a package manager says.
func TestC71WhatAFailureMeans(t *testing.T) {
	for name, c := range map[string]struct {
		said  string
		class block.FaultClass
		want  string
	}{
		"held":       {"E: Held packages were changed and -y was used without --allow-change-held-packages.", "", "apt-mark unhold"},
		"resolving":  {"Err:1 http://deb.example.com Temporary failure resolving 'deb.example.com'\nE: Failed to fetch x", block.FaultNetwork, "Failed to fetch"},
		"no package": {"E: Unable to locate package nftables", "", "Unable to locate package"},
		"read-only":  {"E: Could not open lock file /var/lib/dpkg/lock-frontend - open (30: Read-only file system)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?", "", "are you root"},
		"lock full":  {"E: Could not get lock /var/lib/apt/lists/lock - open (28: No space left on device)\nE: Unable to lock directory /var/lib/apt/lists/", "", "Unable to lock"},
		"disk full":  {"E: You don't have enough free space in /var/cache/apt/archives/.", "", "free space"},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := apt(t, func(int, memory.Invocation) host.CommandResult { return fails(100, c.said) })
			err := s.Apply(blocktest.Step(t, requirecapability.Type(), oneTool))
			if err == nil || block.Passing(err) != c.class || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "apt-get update -y") || *n != 1 {
				t.Errorf("class %q after %d calls: %v", block.Passing(err), *n, err)
			}
		})
	}
}

// An installation that was cut short, as by a loss of power, is finished first;
// one that cannot be is said.
func TestAnInstallationThatWasCutShortIsFinished(t *testing.T) {
	const refused = "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem."
	for _, c := range []struct {
		mends bool
		want  string // of the error, "" for none
	}{{true, ""}, {false, "dpkg --configure -a: an earlier installation of packages was cut short and cannot be finished: dpkg: exit status 1: broken"}} {
		var calls []string
		whole := false
		h := memory.New(memory.Options{Executables: []string{"apt-get", "dpkg"}, Programs: map[string]memory.Program{
			"dpkg": func(i memory.Invocation) host.CommandResult {
				calls = append(calls, strings.Join(append(i.Env, i.Argv...), " "))
				if whole = c.mends; !whole {
					return fails(1, "broken")
				}
				return host.CommandResult{}
			},
			"apt-get": func(i memory.Invocation) host.CommandResult {
				calls = append(calls, i.Argv[1])
				if i.Argv[1] != "install" {
					return host.CommandResult{}
				}
				if !whole {
					return fails(100, refused)
				}
				if err := host.Replace(i.Host.Files, "/usr/bin/nft", host.Content{Mode: 0o755}); err != nil {
					t.Error(err)
				}
				return host.CommandResult{}
			},
		}}).Host()
		s := blocktest.NewStage(h)
		err := s.Apply(blocktest.Step(t, requirecapability.Type(), oneTool))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
		want := []string{"update", "install", "DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 dpkg --configure -a"}
		if c.mends {
			want = append(want, "install")
		}
		if !slices.Equal(calls, want) || len(s.Warnings) != 1 {
			t.Errorf("run: %q, warned: %+v", calls, s.Warnings)
		}
	}
}

// C63: apt-get update ends well although the network failed, and says so only
// in words; that the package is not found then is a fault of the network.
func TestC63ListsThatCouldNotBeRefreshed(t *testing.T) {
	for _, c := range []struct {
		refreshed, said string
		class           block.FaultClass
		want            string
	}{
		{"W: Failed to fetch http://deb.example.com/x  Temporary failure resolving 'deb.example.com'", "E: Unable to locate package nftables", block.FaultNetwork, "lists could not be refreshed before: Failed to fetch"},
		{"", "E: Unable to locate package nftables", "", "Unable to locate package"},
		{"W: Failed to fetch http://deb.example.com/x", "E: You don't have enough free space", "", "free space"},
	} {
		s, _ := apt(t, func(_ int, i memory.Invocation) host.CommandResult {
			if i.Argv[1] == "update" {
				return host.CommandResult{Stderr: []byte(c.refreshed)}
			}
			return fails(100, c.said)
		})
		err := s.Apply(blocktest.Step(t, requirecapability.Type(), oneTool))
		if err == nil || block.Passing(err) != c.class || !strings.Contains(err.Error(), c.want) {
			t.Errorf("class %q: %v, want %q", block.Passing(err), err, c.want)
		}
	}
}

// C69: a host that calls itself fedora and has no package manager is
// image-based: nothing is run, and the error says what was looked for and where
// software comes from.
func TestC69FedoraWithoutAPackageManager(t *testing.T) {
	for _, name := range []string{"fedora-coreos", "bluefin"} {
		text, err := os.ReadFile("../../../testdata/os-release/" + name + ".os-release")
		if err != nil {
			t.Fatal(err)
		}
		h := memory.New(memory.Options{OSRelease: string(text)}).Host()
		facts, err := host.ReadFacts(context.Background(), h.View())
		if err != nil || !facts.ImageManaged {
			t.Fatalf("%s: %+v (%v)", name, facts, err)
		}
		args := blocktest.Args(t, requirecapability.Type(), oneTool)
		args.Facts = facts
		_, err = blocktest.NewStage(h).Check(blocktest.StepOf(t, requirecapability.Type(), args))
		for _, want := range []string{"nft", "comes with its image", "system extension"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not hold %q", name, err, want)
			}
		}
	}
}
