package nftruleset

import (
	"regexp"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

var (
	plainPath   = regexp.MustCompile(`^(/[A-Za-z0-9._+-]+)+$`)
	machineName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$`)
)

func schema() block.Schema {
	at := block.AbsPath("path").Must().Names().Says("Where the rules are kept, for example `/etc/hostler/machines.nft`.")
	check := at.Check
	at.Check = func(v cty.Value) error {
		if err := check(v); err != nil {
			return err
		}
		if !plainPath.MatchString(v.AsString()) {
			return block.Advicef("%q cannot stand in a unit file as it is; write a path of letters, digits and . _ + - only.", v.AsString())
		}
		return nil
	}
	content := block.Text("content").Must().Says("The rules, as `nft -f` reads them.")
	content.Bulk = true
	names := func(doc string) block.Attr {
		a := block.Texts("machines").Must().Says(doc)
		check := a.Check
		a.Check = func(v cty.Value) error {
			err := check(v)
			for _, name := range v.AsValueSlice() {
				if err == nil && name.IsKnown() && !machineName.MatchString(name.AsString()) {
					err = block.Advicef("%q is no name of a machine; write one such as \"kube1\".", name.AsString())
				}
			}
			return err
		}
		return a
	}
	return block.Schema{
		Attrs: []block.Attr{
			block.UnitName("unit").Names().Says("The unit that loads the rules. `hostler-nft-LABEL.service` when left out."),
			at, content,
			names("The machines before which the rules are loaded: all slots of an `nspawn_machine`. Each of their units pulls the unit in."),
		},
		Blocks: []block.Nested{{
			Name: "start_unless", Max: 1, Doc: "When the rules are not loaded. It is asked when the step runs and again whenever the unit starts.", Schema: block.Schema{Attrs: []block.Attr{
				names("Not while any of these machines is registered; the same as `machines` when the block is left out. That the machines cannot be listed is an error."),
			}},
		}},
	}
}

type arguments struct {
	Unit     *string  `cty:"unit"`
	Path     string   `cty:"path"`
	Content  *string  `cty:"content"`
	Machines []string `cty:"machines"`
	Unless   []struct {
		Machines []string `cty:"machines"`
	} `cty:"start_unless"`
}
