package tmpfiles

import (
	"path"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

const dir = "/etc/tmpfiles.d"

func schema() block.Schema {
	at := block.AbsPath("path").Must().Names().Says("The drop-in, a file `/etc/tmpfiles.d/NAME.conf`.")
	check := at.Check
	at.Check = func(v cty.Value) error {
		name := v.AsString()
		if err := check(v); err != nil {
			return err
		}
		if path.Dir(name) != dir || !strings.HasSuffix(name, ".conf") || path.Base(name)[0] == '.' {
			return block.Advicef("%q is not read by systemd-tmpfiles; write for example %q.", name, dir+"/demo.conf")
		}
		return nil
	}
	return block.Schema{
		Attrs: []block.Attr{at},
		Blocks: []block.Nested{{
			Name: "entry", Doc: "A line of the drop-in.", Min: 1, Schema: block.Schema{Attrs: []block.Attr{
				block.Choice("type", "", "d", "D", "f", "L", "L+").Must().Says("What it is: `\"d\"` a directory, `\"D\"` one that is emptied at boot, `\"f\"` a file, `\"L\"` a link, `\"L+\"` a link in the place of whatever is there."),
				block.AbsPath("path").Must().Names().Says("Where it is."),
				block.Mode("mode", "").Says("Its permissions; those of systemd-tmpfiles (0755, for files 0644) when left out."),
				block.Owner("owner").Says("Its owner; root when left out."),
				block.Group("group").Says("Its group; root when left out."),
				block.Text("age").Says("For directories: how old what is in it may get, for example `\"10d\"`."),
				block.Text("argument").Says("What a file holds, in one line, or where a link leads."),
			}},
		}},
	}
}

type entry struct {
	Type     string  `cty:"type"`
	Path     string  `cty:"path"`
	Mode     *string `cty:"mode"`
	Owner    *string `cty:"owner"`
	Group    *string `cty:"group"`
	Age      *string `cty:"age"`
	Argument *string `cty:"argument"`
}
