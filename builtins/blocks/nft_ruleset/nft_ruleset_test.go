package nftruleset_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	nftruleset "hostler/builtins/blocks/nft_ruleset"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/thing"
)

const body = `
	unit     = "nft-flush.service"
	path     = "/etc/hostler/flush.nft"
	content  = "flush ruleset\n"
	machines = ["kube1", "kube2"]
`

// nft refuses what holds "wrong" and notes what it did.
func nft(calls *[]string) memory.Program {
	return func(i memory.Invocation) host.CommandResult {
		*calls = append(*calls, strings.Join(i.Argv[1:len(i.Argv)-1], " "))
		raw, err := thing.ReadAll(i.Host.Files, i.Argv[len(i.Argv)-1])
		if err != nil || strings.Contains(string(raw), "wrong") {
			return host.CommandResult{ExitCode: 1, Stderr: []byte("1:1-5: Error: syntax error")}
		}
		return host.CommandResult{}
	}
}

func on(o memory.Options) func(*testing.T) host.Host {
	return func(*testing.T) host.Host {
		var calls []string
		if o.Programs == nil {
			o.Programs = map[string]memory.Program{"nft": nft(&calls)}
		}
		o.Executables = append([]string{"test"}, o.Executables...)
		h := memory.New(o).Host()
		h.Units = blocktest.Reloading(h.Units)
		return h
	}
}

func withNFT(o memory.Options) memory.Options {
	o.Executables = append(o.Executables, "nft")
	return o
}

func TestContract(t *testing.T) {
	running := memory.Options{Machines: []memory.Machine{{Name: "kube2", Running: true}}}
	for name, c := range map[string]blocktest.Case{
		"new":            {Host: on(withNFT(memory.Options{}))},
		"a machine runs": {Host: on(withNFT(running))},
		"no nft":         {Host: on(memory.Options{Machines: running.Machines})},
		"offline":        {Host: on(withNFT(memory.Options{Offline: true}))},
		"other rules":    {Host: on(withNFT(memory.Options{Machines: running.Machines, Files: map[string]memory.File{"/etc/hostler/flush.nft": {Content: "table x {}\n"}}}))},
	} {
		c.Type, c.Body, c.Tolerated = nftruleset.Type(), body, []string{"reset-failed"}
		c.Prepare = func(s *blocktest.Stage) { s.Host.Units = blocktest.Reloading(s.Host.Units) }
		c.Roots, c.Names = []string{"/etc", "/usr"}, []string{"/etc/hostler/flush.nft", "nft-flush.service"}
		t.Run(name, func(t *testing.T) { blocktest.Run(t, c) })
	}
}

const unit = `[Unit]
Description=Load the nftables ruleset /etc/hostler/flush.nft
After=iptables.service ip6tables.service nftables.service
Before=systemd-nspawn@kube1.service systemd-nspawn@kube2.service

[Service]
Type=oneshot
ExecCondition=/usr/bin/test ! -e /run/systemd/machines/kube1
ExecCondition=/usr/bin/test ! -e /run/systemd/machines/kube2
ExecStart=nft -f /etc/hostler/flush.nft

[Install]
RequiredBy=systemd-nspawn@kube1.service systemd-nspawn@kube2.service
`

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	b, err := thing.ReadAll(h.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// loads counts how often the unit ran.
func loads(o memory.Options) (*int, memory.Options) {
	n := new(int)
	o.Scripts = map[string]memory.Script{"nft-flush.service": func(int) memory.Outcome { *n++; return memory.Outcome{Ends: true} }}
	return n, withNFT(o)
}

// R086, R089 to R091: installed, enabled for the machines only, ordered, and
// started when no machine is registered.
func TestR086R090TheUnit(t *testing.T) {
	n, o := loads(memory.Options{})
	s := blocktest.NewStage(on(o)(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body))
	if got := read(t, s.Host, "/etc/systemd/system/nft-flush.service"); got != unit {
		t.Errorf("the unit is\n%s\nwant\n%s", got, unit)
	}
	state, err := thing.UnitEnabled{Unit: "nft-flush.service"}.Look(context.Background(), s.Host.View())
	if err != nil || len(state.Links) != 2 {
		t.Errorf("links %+v (%v)", state.Links, err)
	}
	if _, ok := state.Links["/etc/systemd/system/systemd-nspawn@kube1.service.requires/nft-flush.service"]; !ok {
		t.Errorf("links %+v", state.Links)
	}
	if *n != 1 {
		t.Errorf("it was started %d times", *n)
	}
}

// R087, H07: with any of the machines registered it is installed and enabled
// and not started; new rules wait too.
func TestR087H07NotStartedWhileAMachineRuns(t *testing.T) {
	n, o := loads(memory.Options{Machines: []memory.Machine{{Name: "kube2", Running: true}}})
	s := blocktest.NewStage(on(o)(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), strings.Replace(body, "flush ruleset", "table inet x {}", 1)))
	if *n != 0 {
		t.Error("it was started")
	}
	if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0].Detail, "Machine kube2 is registered") {
		t.Errorf("%+v", s.Warnings)
	}
}

func TestOtherMachinesDoNotCount(t *testing.T) {
	n, o := loads(memory.Options{Machines: []memory.Machine{{Name: "kube10", Running: true}}})
	s := blocktest.NewStage(on(o)(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body))
	if *n != 1 {
		t.Error("it was not started")
	}
}

// R088, H08: machines that cannot be listed are an error, and nothing is
// loaded.
func TestR088H08AFailingInventoryIsAnError(t *testing.T) {
	n, o := loads(memory.Options{})
	s := blocktest.NewStage(on(o)(t))
	s.Host.Machines = failing{s.Host.Machines}
	err := s.Apply(blocktest.Step(t, nftruleset.Type(), body))
	if err == nil || !strings.Contains(err.Error(), "cannot be listed") || *n != 0 {
		t.Error(err)
	}
}

type failing struct{ host.Machines }

func (failing) Registered(context.Context) ([]host.MachineState, error) {
	return nil, errors.New("connection refused")
}

func TestNewRulesAreLoadedAtOnce(t *testing.T) {
	n, o := loads(memory.Options{})
	s := blocktest.NewStage(on(o)(t))
	step := blocktest.Step(t, nftruleset.Type(), body)
	s.MustApply(t, step)
	s.MustApply(t, step)
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), strings.Replace(body, "flush ruleset", "table inet x {}", 1)))
	if *n != 2 {
		t.Errorf("loaded %d times", *n)
	}
}

func TestRulesThatNftRefusesChangeNothing(t *testing.T) {
	var calls []string
	o := withNFT(memory.Options{Programs: map[string]memory.Program{"nft": nft(&calls)}})
	s := blocktest.NewStage(on(o)(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body))
	err := s.Apply(blocktest.Step(t, nftruleset.Type(), strings.Replace(body, "flush ruleset", "wrong", 1)))
	if err == nil || !strings.Contains(err.Error(), "nft refuses the ruleset") || !strings.Contains(err.Error(), "syntax error") {
		t.Error(err)
	}
	if got := read(t, s.Host, "/etc/hostler/flush.nft"); got != "flush ruleset\n" {
		t.Errorf("the file is %q", got)
	}
	if !slices.Contains(calls, "-c -f") {
		t.Errorf("%q", calls)
	}
}

func TestWithoutNftItIsSaid(t *testing.T) {
	s := blocktest.NewStage(on(memory.Options{Machines: []memory.Machine{{Name: "kube1", Running: true}}})(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body))
	if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0].Detail, "nft is not installed") {
		t.Errorf("%+v", s.Warnings)
	}
}

func TestOtherGuard(t *testing.T) {
	s := blocktest.NewStage(on(withNFT(memory.Options{}))(t))
	s.MustApply(t, blocktest.Step(t, nftruleset.Type(), body+"start_unless { machines = [\"other\"] }"))
	got := read(t, s.Host, "/etc/systemd/system/nft-flush.service")
	if !strings.Contains(got, "! -e /run/systemd/machines/other\n") || strings.Contains(got, "machines/kube1") {
		t.Error(got)
	}
}

func TestALargeRulesetIsKnownByItsDigest(t *testing.T) {
	large := strings.Replace(body, "flush ruleset", "flush ruleset # "+strings.Repeat("x", 9000), 1)
	args := blocktest.Args(t, nftruleset.Type(), large)
	data, err := block.Plain(nftruleset.Type().Schema, args.Value, nil)
	if err == nil {
		data, err = block.Slim(nftruleset.Type().Schema, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	slim := args
	if slim.Value, slim.Holes, err = block.ParsePlain(nftruleset.Type().Schema, data); err != nil || len(slim.Holes) != 1 {
		t.Fatalf("%v, %v", slim.Holes, err)
	}
	s := blocktest.NewStage(on(withNFT(memory.Options{}))(t))
	fromClaim := blocktest.StepOf(t, nftruleset.Type(), slim)
	if change := s.MustCheck(t, fromClaim); change.Action != block.ActionUnknown && change.Action != block.ActionCreate {
		t.Errorf("%+v", change)
	}
	if err := s.Apply(fromClaim); err == nil {
		t.Error("rules that are not there were written")
	}
	step := blocktest.StepOf(t, nftruleset.Type(), args)
	s.MustApply(t, step)
	s.MustHold(t, fromClaim)
	s.MustReset(t, fromClaim)
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		strings.Replace(body, "flush.nft", "a b.nft", 1):         "letters, digits and",
		strings.Replace(body, "nft-flush.service", "a.timer", 1): "no name of a service",
		strings.Replace(body, "\"kube1\", \"kube2\"", "", 1):     "Name the machines",
		strings.Replace(body, "kube1", "a/b", 1):                 "no name of a machine",
		strings.Replace(body, "path ", "#path ", 1):              "path is required",
	} {
		if got := blocktest.Faults(nftruleset.Type(), body); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not hold %q", body, got, want)
		}
	}
}
