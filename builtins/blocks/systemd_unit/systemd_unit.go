// Package systemdunit is the block for a systemd unit: its file and drop-ins,
// whether it is enabled or masked, and whether it runs.
package systemdunit

import (
	_ "embed"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/unitfile"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "systemd_unit", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "A systemd unit: its file and drop-ins, its enablement and its state.",
			Text:    doc,
			Checks: "The bytes, mode and owner of the unit file and of the drop-ins; the links of enabling, and the mask; whether the unit runs. " +
				"Where no manager runs, links only: what has to be started is reported as deferred.",
			Owns: "`path:` and the unit file, if the step gives its content, and each drop-in; `unit-enabled:` and the unit's name where `enable` or `mask` is set; " +
				"`unit-active:` and the name where `state` is set.",
			Resets: "The unit goes back to the state it was in, the links to those that were there, and the files are removed or put back. " +
				"A unit whose own file is taken away is stopped; a foreign unit that runs is restarted when its drop-ins are gone.",
		},
		Schema: schema(),
		New:    newStep,
	}
}

func schema() block.Schema {
	return block.Schema{
		Attrs: []block.Attr{
			block.UnitName("name").Names().Says("The unit, with its type: `\"a.service\"`. The block's label when left out."),
			content("The unit file, written to `/etc/systemd/system`. Without `content` and `source` the unit is foreign: only what else is written here is managed."),
			source("A file of the recipe that is the unit file, byte for byte."),
			block.Mode("mode", "0644").Says("The permissions of the unit file, always enforced. It belongs to root."),
			toggle("enable", "Whether the unit is enabled, by the links that its `[Install]` section asks for. Left as it is when left out."),
			toggle("mask", "Whether the unit is masked, so that nothing can start it. Left as it is when left out; `false` takes a mask away."),
			block.Choice("state", "", "started", "stopped").Starts().Says("Whether the unit runs. Left as it is when left out; refused in `before_boot`, where nothing runs yet."),
			block.Choice("on_stop_failure", "error", "error", "warn").Says("What a failing stop is, with `state = \"stopped\"`."),
			block.Choice("restart", "", "never").Says("Says that changed files of the started unit need no restart, so that no `restart_on_change` has to watch it."),
		},
		Blocks: []block.Nested{
			{Name: "drop_in", Labels: []string{"name"}, Doc: "A drop-in file `NAME.d/LABEL` beside the unit file. The label ends in `.conf`.", Schema: block.Schema{Attrs: []block.Attr{
				content("The drop-in. Empty content is content: it hides a drop-in of the same name that the image shipped."),
				source("A file of the recipe that is the drop-in."),
				block.Mode("mode", "0644").Says("Its permissions, always enforced."),
			}}},
			{Name: "start_unless", Max: 1, Doc: "When the unit is not started although `state` says so. It is asked when the step runs.", Schema: block.Schema{Attrs: []block.Attr{
				block.Texts("machines").Must().Says("Not while any of these machines is registered. That the machines cannot be listed is an error."),
			}}},
		},
	}
}

func content(doc string) block.Attr {
	a := block.Text("content").MaySecret().Says(doc)
	a.Bulk = true
	return a
}

func source(doc string) block.Attr {
	a := block.Text("source").Says(doc)
	a.Asset = true
	return a
}

func toggle(name, doc string) block.Attr {
	return block.Attr{Name: name, Type: cty.Bool, Grammar: "bool", Doc: doc}
}

// The values of state.
const (
	started = "started"
	stopped = "stopped"
)

// arguments are the block's as they are evaluated.
type arguments struct {
	Name          *string  `cty:"name"`
	Content       *string  `cty:"content"`
	Source        *string  `cty:"source"`
	Mode          string   `cty:"mode"`
	Enable        *bool    `cty:"enable"`
	Mask          *bool    `cty:"mask"`
	State         *string  `cty:"state"`
	OnStopFailure string   `cty:"on_stop_failure"`
	Restart       *string  `cty:"restart"`
	DropIns       []dropIn `cty:"drop_in"`
	StartUnless   []unless `cty:"start_unless"`
}

type dropIn struct {
	Name    string  `cty:"name"`
	Content *string `cty:"content"`
	Source  *string `cty:"source"`
	Mode    string  `cty:"mode"`
}

type unless struct {
	Machines []string `cty:"machines"`
}

// step is one unit.
type step struct {
	unit  unitfile.Name
	name  string
	own   bool   // files[0] is the unit file
	files []file // and the drop-ins
	args  arguments
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{name: args.Label}
	if err := args.Into(&s.args); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if s.args.Name != nil {
		s.name = *s.args.Name
	}
	var err error
	if s.unit, err = unitfile.ParseName(s.name); err != nil {
		return nil, hcl.Diagnostics{args.Fault("name", "Invalid unit name", sentence(err.Error()))}
	}
	diags := s.take(args)
	diags = append(diags, s.rules(args)...)
	if !diags.HasErrors() {
		diags = append(diags, s.installRules(args)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return s, diags
}

func (s *step) starts() bool  { return s.args.State != nil && *s.args.State == started }
func (s *step) stops() bool   { return s.args.State != nil && *s.args.State == stopped }
func (s *step) enables() bool { return is(s.args.Enable, true) }
func (s *step) masks() bool   { return is(s.args.Mask, true) }

// is says whether a switch is set to a value; one left out is set to none.
func is(set *bool, to bool) bool { return set != nil && *set == to }

// NeedsWatcher says whether changed files of the unit need a restart that the
// step does not make.
func (s *step) NeedsWatcher() bool {
	return s.starts() && len(s.files) > 0 && s.args.Restart == nil
}
