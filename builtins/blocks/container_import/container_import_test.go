package containerimport_test

import (
	"errors"
	"strings"
	"testing"

	containerimport "hostler/builtins/blocks/container_import"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const body = `
	path   = "/var/lib/images/a.tar"
	images = ["r.example/a:1", "r.example/b:2"]
`

// ctr keeps the names of images in a file, and takes the lines of an archive
// for the names of its images.
func ctr(imports *int) memory.Program {
	return func(i memory.Invocation) host.CommandResult {
		args := strings.Join(i.Argv[1:], " ")
		have, err := thing.ReadAll(i.Host.Files, "/var/lib/containerd/images")
		if err != nil && !host.Absent(err) {
			return host.CommandResult{ExitCode: 2, Stderr: []byte(err.Error())}
		}
		switch {
		case args == "--namespace k8s.io images ls -q":
			return host.CommandResult{Stdout: have}
		case !strings.HasPrefix(args, "--namespace k8s.io images import "):
			return host.CommandResult{ExitCode: 1, Stderr: []byte(args)}
		}
		*imports++
		more, err := thing.ReadAll(i.Host.Files, i.Argv[len(i.Argv)-1])
		if err == nil {
			err = host.Replace(i.Host.Files, "/var/lib/containerd/images", host.Content{Bytes: append(have, more...), Mode: 0o600})
		}
		if err != nil {
			return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		return host.CommandResult{}
	}
}

func on(imports *int, archive, have string) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		return memory.New(memory.Options{
			Executables: []string{"ctr"}, Programs: map[string]memory.Program{"ctr": ctr(imports)},
			Files: map[string]memory.File{"/var/lib/images/a.tar": {Content: archive}, "/var/lib/containerd/images": {Content: have}},
		}).Host()
	}
}

func TestContract(t *testing.T) {
	blocktest.Run(t, blocktest.Case{
		Type: containerimport.Type(), Body: body, Host: on(new(int), "r.example/a:1\nr.example/b:2\n", ""), Unforeseen: true, Leaves: true,
		Names: []string{"/var/lib/images/a.tar"}, Roots: []string{"/etc"},
	})
}

func TestImportedOnlyWhenSomethingIsMissing(t *testing.T) {
	for have, want := range map[string]int{
		"":                               1,
		"r.example/a:1\n":                1,
		"r.example/b:2\nr.example/a:1\n": 0,
	} {
		var imports int
		s := blocktest.NewStage(on(&imports, "r.example/a:1\nr.example/b:2\n", have)(t))
		for range 2 {
			s.MustApply(t, blocktest.Step(t, containerimport.Type(), body))
		}
		if imports != want {
			t.Errorf("with %q: %d imports", have, imports)
		}
	}
}

func TestFailures(t *testing.T) {
	var imports int
	apply := func(h host.Host) error {
		return blocktest.NewStage(h).Apply(blocktest.Step(t, containerimport.Type(), body))
	}
	if err := apply(on(&imports, "r.example/a:1\n", "")(t)); err == nil || !strings.Contains(err.Error(), "still has no r.example/b:2") {
		t.Error(err)
	}
	gone := on(&imports, "", "")(t)
	if err := gone.Files.Remove("/var/lib/images/a.tar"); err != nil {
		t.Fatal(err)
	}
	if err := apply(gone); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if err := apply(memory.New(memory.Options{}).Host()); !errors.Is(err, host.ErrNoTool) {
		t.Error(err)
	}
	down := memory.New(memory.Options{Executables: []string{"ctr"}, Programs: map[string]memory.Program{
		"ctr": func(memory.Invocation) host.CommandResult {
			return host.CommandResult{ExitCode: 1, Stderr: []byte("connection refused")}
		},
	}}).Host()
	if err := apply(down); block.Passing(err) != block.FaultExit || !strings.Contains(err.Error(), "images ls: ctr: exit status 1: connection refused") {
		t.Error(err)
	}
}

func TestOfflineIsDeferred(t *testing.T) {
	s := blocktest.NewStage(memory.New(memory.Options{Offline: true}).Host())
	step := blocktest.Step(t, containerimport.Type(), body)
	s.MustApply(t, step)
	if change := s.MustCheck(t, step); change.Action != block.ActionNone || len(change.Deferred) != 1 {
		t.Errorf("%+v", change)
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"path = \"/a\"\nimages = []":                           "at least one image",
		"path = \"/a\"\nimages = [\"a b\"]":                    "no name of an image",
		"path = \"/a\"\nimages = [\"-a\"]":                     "no name of an image",
		"path = \"a\"\nimages = [\"a\"]":                       "absolute path",
		"path = \"/a\"\nimages = [\"a\"]\nnamespace = \"a b\"": "no namespace",
	} {
		if got := blocktest.Faults(containerimport.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}

// On a running host containerd is asked before anything is noted as a change.
func TestAsked(t *testing.T) {
	ask := func(h host.Host, step block.Step) (block.Change, error) {
		s := blocktest.NewStage(h)
		asking, ok := step.(block.Asking)
		if !ok {
			t.Fatal("it does not ask")
		}
		return asking.Ask(t.Context(), s.Do())
	}
	fresh := func() block.Step { return blocktest.Step(t, containerimport.Type(), body) }
	var imports int
	if c, err := ask(on(&imports, "", "r.example/a:1\nr.example/b:2\n")(t), fresh()); err != nil || c.Needed() {
		t.Errorf("all there: %+v, %v", c, err)
	}
	h := on(&imports, "r.example/a:1\nr.example/b:2\n", "r.example/a:1\n")(t)
	step := fresh()
	if c, err := ask(h, step); err != nil || c.Action != block.ActionRun || !strings.Contains(c.Reason, "no r.example/b:2") || imports != 0 {
		t.Errorf("one missing: %+v, %v, %d imports", c, err, imports)
	}
	blocktest.NewStage(h).MustApply(t, step)
	if c, err := ask(h, step); err != nil || c.Needed() {
		t.Errorf("after it: %+v, %v", c, err)
	}
	down := memory.New(memory.Options{Executables: []string{"ctr"}, Programs: map[string]memory.Program{
		"ctr": func(memory.Invocation) host.CommandResult { return host.CommandResult{ExitCode: 1} },
	}}).Host()
	if c, err := ask(down, fresh()); err != nil || c.Action != block.ActionUnknown {
		t.Errorf("containerd does not answer: %+v, %v", c, err)
	}
	if _, err := ask(memory.New(memory.Options{}).Host(), fresh()); !errors.Is(err, host.ErrNoTool) || !strings.Contains(err.Error(), "/var/lib/images/a.tar") {
		t.Error(err)
	}
}
