// Package waitfor is the block that waits until something has come about.
package waitfor

import (
	"context"
	_ "embed"
	"fmt"
	"net/netip"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	address := block.Text("address").Says("A TCP address on which something must listen on this host, for example `\"127.0.0.1:6443\"`.")
	address.Grammar, address.Check = "IP address and port", checkAddress
	return &block.Type{
		Name: "wait_for", Version: 1, Example: example, Runs: true,
		Doc: block.Doc{
			Summary: "Waits until a file, unit, address, URL or command says that something is ready.",
			Text:    doc,
			Checks:  "Whether it is ready now.",
			Owns:    "Nothing.",
			Resets:  "Nothing.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.AbsPath("file").Says("A path that must be there. Exactly one of `file`, `unit`, `command`, `address` and `url` is given."),
			block.UnitName("unit").Says("A unit that must be active."),
			block.Argv("command").Says("A command that must exit 0; it is run again and again until it does."),
			address,
			block.URL("url").Says("A URL that must answer; any answer below 500 will do."),
			block.Duration("timeout", "5m").Says("How long it is waited for in all."),
			block.Duration("interval", "2s").Says("How long to wait between two looks."),
		}},
		New: newStep,
	}
}

func checkAddress(v cty.Value) error {
	if _, err := netip.ParseAddrPort(v.AsString()); err != nil {
		return block.Advicef("%q is no address and port; write one such as \"127.0.0.1:6443\".", v.AsString())
	}
	return nil
}

type arguments struct {
	File     *string  `cty:"file"`
	Unit     *string  `cty:"unit"`
	Command  []string `cty:"command"`
	Address  *string  `cty:"address"`
	URL      *string  `cty:"url"`
	Timeout  string   `cty:"timeout"`
	Interval string   `cty:"interval"`
}

// step is one thing to wait for. met is true once a command has said so.
type step struct {
	what              string
	ready             ready
	timeout, interval time.Duration
	command           bool // asking is running a command
	live              bool // only a running host can answer
	met               bool
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	var found []*step
	add := func(what, name string, live bool, r ready) {
		found = append(found, &step{what: what + " " + name, live: live, ready: r})
	}
	if a.File != nil {
		add("file", *a.File, false, fileReady(*a.File))
	}
	if a.Unit != nil {
		add("unit", *a.Unit, true, unitReady(*a.Unit))
	}
	if len(a.Command) > 0 {
		add("command", a.Command[0], true, commandReady(a.Command))
		found[len(found)-1].command = true
	}
	if a.Address != nil {
		add("address", *a.Address, true, addressReady(*a.Address))
	}
	if a.URL != nil {
		add("url", *a.URL, true, urlReady(*a.URL))
	}
	if len(found) != 1 {
		return nil, hcl.Diagnostics{args.Fault("", "One thing to wait for",
			fmt.Sprintf("Write exactly one of file, unit, command, address and url; %d are given.", len(found)))}
	}
	s := found[0]
	var err error
	if s.timeout, err = block.ParseDuration(a.Timeout); err != nil {
		return nil, hcl.Diagnostics{args.Fault("timeout", "Invalid duration", err.Error())}
	}
	if s.interval, err = block.ParseDuration(a.Interval); err != nil {
		return nil, hcl.Diagnostics{args.Fault("interval", "Invalid duration", err.Error())}
	}
	if s.interval <= 0 {
		return nil, hcl.Diagnostics{args.Fault("interval", "No interval", "Write an interval above zero, for example \"2s\".")}
	}
	return s, nil
}

// Owns names nothing.
func (s *step) Owns() []thing.Owned { return nil }

// Check looks once.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	if err := ctx.Err(); err != nil {
		return block.Change{}, fmt.Errorf("%s: %w", s.what, err)
	}
	switch {
	case s.met:
		return block.NoChange(), nil
	case !in.View.Identity.Live && s.live:
		return s.atBoot(), nil
	case s.command:
		return block.Unknown(s.what + " is asked when the step runs"), nil
	}
	why, err := s.ready(ctx, block.Do{Look: in})
	switch {
	case err != nil:
		return block.OrUnknown(s.what, err)
	case why == "":
		return block.NoChange(), nil
	case !in.View.Identity.Live:
		return s.atBoot(), nil
	}
	return block.Change{Action: block.ActionRun, Reason: fmt.Sprintf("%s: %s; it is waited for", s.what, why)}, nil
}

// Ask runs the command once, so that a step with nothing to wait for is known
// as such.
func (s *step) Ask(ctx context.Context, do block.Do) (block.Change, error) {
	if !s.command || s.met {
		return s.Check(ctx, do.Look)
	}
	why, err := s.ready(ctx, do)
	if err != nil {
		return block.OrUnknown(s.what, err)
	}
	if s.met = why == ""; s.met {
		return block.NoChange(), nil
	}
	return block.Change{Action: block.ActionRun, Reason: fmt.Sprintf("%s; it is waited for", why)}, nil
}

func (s *step) atBoot() block.Change {
	return block.Change{Action: block.ActionNone, Deferred: []string{s.what + " is waited for on the running host"}}
}

// Apply waits. In a plan nothing comes about by waiting, as what earlier steps
// start does not run.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if !do.Host.Identity.Live {
		return ctx.Err()
	}
	clock := do.Host.Clock
	deadline := clock.Monotonic() + s.timeout
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		why, err := s.ready(ctx, do)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		if s.met = why == ""; s.met {
			return nil
		}
		if _, shadow := do.Host.Files.(host.Unknowable); shadow {
			return host.Unknownf("%s: %s, and whether that changes is not known before", s.what, why)
		}
		left := deadline - clock.Monotonic()
		if left <= 0 {
			return fmt.Errorf("%s: not ready after %s: %s%s", s.what, s.timeout, why, s.log(ctx, do.View))
		}
		if err := clock.Sleep(ctx, min(s.interval, left)); err != nil {
			return fmt.Errorf("%s: not ready when the wait was broken off: %s: %w", s.what, why, err)
		}
	}
}

// log is what a unit said last, for the error text.
func (s *step) log(ctx context.Context, v host.View) string {
	var unit string
	if _, err := fmt.Sscanf(s.what, "unit %s", &unit); err != nil {
		return ""
	}
	lines, err := v.Units.Log(ctx, unit, 5)
	if err != nil || len(lines) == 0 {
		return ""
	}
	text := "; it logged:"
	for _, line := range lines {
		text += "\n  " + line
	}
	return text
}

// Reset does nothing.
func (s *step) Reset(ctx context.Context, _ block.Do, _ thing.Thing, _ thing.Origin) error {
	return ctx.Err()
}
