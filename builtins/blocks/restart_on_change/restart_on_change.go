// Package restartonchange is the block that restarts a running unit when
// something it depends on has changed.
package restartonchange

import (
	_ "embed"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
	"hostler/interpreter/unitfile"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "restart_on_change", Version: 1, Example: example, Runs: true,
		Doc: block.Doc{
			Summary: "Restarts a running unit when a watched step has changed something.",
			Text:    doc,
			Checks:  "Whether a restart is owed, and whether that is void: the unit does not run, or its current run began after the change was in place.",
			Owns:    "Nothing. What is owed is noted under `/run`, so that neither a crash nor a failing later step loses it, and a reboot clears it.",
			Resets:  "Nothing.",
		},
		Schema: block.Schema{Attrs: []block.Attr{
			block.UnitName("name").Says("The unit, with its type: `\"a.service\"`. The block's label when left out."),
			watch(),
			block.Choice("action", "restart", "restart", "reload", "try-restart").Says("What is done. A reload leaves the unit running; a unit that has failed since is restarted, except by `\"try-restart\"`."),
			block.Argv("validate").Says("A command that is run before and must exit 0, for example to check a configuration."),
		}},
		New: newStep,
	}
}

func watch() block.Attr {
	return block.Attr{
		Name: "watch", Type: cty.List(cty.String), Required: true, Refs: true, Grammar: "list of references",
		Doc: "The steps whose changes matter. Only changed bytes count, not a mode or owner that is put right. A step with `for_each` without a key means all its instances.",
	}
}

type arguments struct {
	Name     *string  `cty:"name"`
	Watch    []string `cty:"watch"`
	Action   string   `cty:"action"`
	Validate []string `cty:"validate"`
}

type step struct {
	unit string
	verb host.JobVerb
	args arguments
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{unit: args.Label}
	if err := args.Into(&s.args); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if s.args.Name != nil {
		s.unit = *s.args.Name
	}
	var diags hcl.Diagnostics
	name, err := unitfile.ParseName(s.unit)
	switch {
	case err != nil:
		diags = append(diags, args.Fault("name", "Invalid unit name", err.Error()+"."))
	case name.Template:
		diags = append(diags, args.Fault("name", "Restart of a template", s.unit+" is a template, which does not run; name an instance such as "+name.Of("instance").String()+"."))
	}
	if len(s.args.Watch) == 0 {
		diags = append(diags, args.Fault("watch", "Nothing to watch", "Name at least one step whose changes restart "+s.unit+"."))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	s.verb = host.JobVerb(s.args.Action)
	return s, nil
}

// Watches lists the steps it watches and the unit.
func (s *step) Watches() (addresses []string, unit string) { return s.args.Watch, s.unit }

// Owns is empty.
func (s *step) Owns() []thing.Owned { return nil }
