// Package interpreterinstall is the block that installs the interpreter itself:
// its program in two slots, and its own units.
package interpreterinstall

import (
	_ "embed"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/delivery"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "interpreter_install", Version: 1, HostOnly: true, Example: example,
		Doc: block.Doc{
			Summary: "The interpreter itself: its program in two slots, its boot unit and its daemon.",
			Text:    doc,
			Checks: "That the links lead to a program that may be executed, that the unit files are there and enabled, and on a complete " +
				"installation that the daemon runs. Which slot runs, and an edited unit file, are left alone.",
			Owns: "`path:` of both slots, of the three links and of the unit files, with `unit-enabled:` and `unit-active:` of the units.",
			Resets: "Everything is removed, what was delivered too. Units that could start hostler again go before all else; the one that " +
				"hostler runs in goes last and is stopped when everything is done.",
		},
		Schema: schema(), New: newStep,
	}
}

func schema() block.Schema {
	inputs := block.Texts("boot_inputs").Says("Files with inputs that the boot unit passes, weakest first: absolute paths of letters, digits and . _ - : + @ only.")
	inputs.Check = plainPaths
	credentials := block.Attr{
		Name: "credentials", Type: cty.Map(cty.String), Grammar: "map of absolute paths", Check: credentialPaths,
		Doc: "Files that the boot unit loads as systemd credentials, by the sensitive variable that they hold.",
	}
	return block.Schema{Attrs: []block.Attr{
		inputs, credentials,
		block.Switch("daemon", true).Names().Says("Whether the daemon is installed. It is started when the installation is complete."),
		block.Switch("first_boot_unit", true).Names().Says("Whether the boot unit is installed, which looks at the host at every boot."),
	}}
}

func plainPaths(v cty.Value) error {
	for _, e := range v.AsValueSlice() {
		if e.IsKnown() {
			if err := plainPath(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainPath holds a path to what can stand in a unit file as it is.
func plainPath(v cty.Value) error {
	if v.IsNull() {
		return block.Advicef("Leave out the null.")
	}
	name := v.AsString()
	if err := block.CheckPath(name); err != nil {
		return err
	}
	if !delivery.Plain(name) {
		return block.Advicef("%q cannot stand in a unit file as it is; write a path of letters, digits and . _ - : + @ only.", name)
	}
	return nil
}

func credentialPaths(v cty.Value) error {
	for name, e := range v.AsValueMap() {
		if !variable.MatchString(name) {
			return block.Advicef("%q is no name of a variable.", name)
		}
		if e.IsKnown() {
			if err := plainPath(e); err != nil {
				return err
			}
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

type arguments struct {
	Inputs      []string          `cty:"boot_inputs"`
	Credentials map[string]string `cty:"credentials"`
	Daemon      bool              `cty:"daemon"`
	Boot        bool              `cty:"first_boot_unit"`
}

// step is an interpreter below a prefix.
type step struct {
	prefix string
	// units are those to be there, the one that is enabled last.
	units  []unit
	daemon bool
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	var a arguments
	if err := args.Into(&a); err != nil {
		return nil, hcl.Diagnostics{args.Fault("", "Invalid arguments", err.Error())}
	}
	if !a.Boot && len(a.Inputs)+len(a.Credentials) > 0 {
		return nil, hcl.Diagnostics{args.Fault("first_boot_unit", "Nothing to pass them", "boot_inputs and credentials are for the boot unit; leave them out, or first_boot_unit = false.")}
	}
	s := &step{prefix: args.Prefix, daemon: a.Daemon}
	if a.Daemon {
		s.units = append(s.units,
			unit{name: delivery.RecoveryUnit, text: delivery.RecoveryText(s.prefix)},
			unit{name: delivery.DaemonUnit, text: delivery.DaemonText(s.prefix), enabled: true})
	}
	if a.Boot {
		boot := delivery.Boot{Prefix: s.prefix, Inputs: a.Inputs, Credentials: a.Credentials}
		s.units = append(s.units, unit{name: delivery.BootUnit, text: boot.Text(), enabled: true, delivered: true})
	}
	return s, nil
}

// Owns names the programs and links, then the units.
func (s *step) Owns() []thing.Owned {
	slots := delivery.Slots(s.prefix)
	owned := []thing.Owned{
		{Thing: thing.Path(slots[0])}, {Thing: thing.Path(slots[1])}, {Thing: thing.Path(delivery.Next(s.prefix))},
		{Thing: thing.Path(delivery.Current(s.prefix))}, {Thing: thing.Path(delivery.LastGood(s.prefix))},
		{Thing: thing.Path(delivery.Program(s.prefix)), Delivered: true},
	}
	for _, u := range s.units {
		owned = append(owned, u.owns()...)
	}
	return owned
}
