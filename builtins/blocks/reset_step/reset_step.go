// Package resetstep is the block that acts on reset only, at its place in the
// backwards walk.
package resetstep

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
	"hostler/interpreter/thing"
)

//go:embed doc.md
var doc string

//go:embed example.hcl
var example string

// Type returns the block type.
func Type() *block.Type {
	return &block.Type{
		Name: "reset_step", Version: 1, Example: example,
		Doc: block.Doc{
			Summary: "Actions that are done on reset, at this place in the backwards walk.",
			Text:    doc,
			Checks:  "Nothing: it does nothing on apply.",
			Owns:    "`residue:` and each target, so that the proof after a reset looks for it.",
			Resets:  "Does its actions in the order they are written. What is already gone is not an error.",
		},
		Schema: block.Schema{Blocks: nested()},
		New:    newStep,
	}
}

// nested are the kinds of actions.
func nested() []block.Nested {
	return []block.Nested{
		action("stop_unit", "Stops a unit and waits until it has stopped. A unit that is not there is stopped.",
			block.UnitName("name").Must().Says("The unit.")),
		action("disable_unit", "Removes the links by which a unit starts at boot, and its aliases.",
			block.UnitName("name").Must().Says("The unit.")),
		action("remove_path", "Removes a file, a link (never its target) or a directory.",
			block.AbsPath("path").Must().Says("The path."),
			block.Switch("recursive", false).Says("Whether a directory is removed with everything in it. It is never removed across mounts.")),
		action("unmount", "Unmounts what is mounted at a path.",
			block.AbsPath("path").Must().Says("The mount point.")),
		action("delete_link", "Deletes network links. One of another kind is an error: it is not ours.",
			block.Text("name").Says("The link. Exactly one of `name` and `name_range` is given."),
			block.Text("name_range").Says("A range of links, for example `\"wg51820-51899\"`; both ends are meant. Links of another kind in it are left alone."),
			block.Text("kind").Must().Says("The kind that a link must be of: `\"wireguard\"`, `\"dummy\"`, `\"veth\"`, …")),
		action("flush_routes", "Removes all routes of routing tables, in both address families.",
			tables()),
		action("delete_rules", "Removes the policy rules that lead to routing tables, in both address families.",
			tables()),
		action("delete_nft_table", "Deletes an nftables table with `nft`.",
			block.Choice("family", "inet", "inet", "ip", "ip6", "arp", "bridge", "netdev").Says("Its family."),
			block.Text("name").Must().Says("Its name.")),
		action("run", "Runs a command, which must exit 0.",
			block.Argv("argv").Must().Says("The command line.")),
	}
}

func action(name, doc string, attrs ...block.Attr) block.Nested {
	attrs = append(attrs,
		block.Choice("missing_tool", "error", "absent", "error").Says("What it means when the program that the action needs is not installed: `\"absent\"` takes it as proof that there is nothing to remove."),
		block.Attr{Name: "tolerate", Type: cty.List(cty.Number), Grammar: "list of exit codes", Doc: "Exit codes of the program that count as success."})
	return block.Nested{Name: name, Doc: doc, Actions: true, Schema: block.Schema{Attrs: attrs}}
}

func tables() block.Attr {
	a := block.Text("tables").Must().Says("A table or a range of tables, for example `\"51820-51899\"`; both ends are meant. The tables local, main and default are never touched.")
	a.Grammar = "number or range"
	return a
}

// options are the arguments of any action; what a kind does not have is zero.
type options struct {
	kind        string
	position    int
	name        string
	path        string
	recursive   bool
	ranged      bool // name is a range
	both        bool // name and name_range are given
	linkKind    string
	tables      string
	family      string
	argv        []string
	missingTool string
	tolerate    []int
}

type step struct{ actions []options }

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{}
	var diags hcl.Diagnostics
	for _, kind := range nested() {
		for i, v := range args.Value.GetAttr(kind.Name).AsValueSlice() {
			o := read(kind.Name, v)
			if err := o.rules(); err != nil {
				diags = append(diags, args.Fault(fmt.Sprintf("%s[%d]", kind.Name, i), "Invalid reset action", err.Error()))
			}
			s.actions = append(s.actions, o)
		}
	}
	if len(s.actions) == 0 {
		diags = append(diags, args.Fault("", "No reset action", "Write at least one action, for example remove_path { path = \"/run/demo\" }."))
	}
	slices.SortStableFunc(s.actions, func(a, b options) int { return a.position - b.position })
	return s, diags
}

func read(kind string, v cty.Value) options {
	o := options{
		kind: kind, name: str(v, "name"), path: str(v, "path"), linkKind: str(v, "kind"), tables: str(v, "tables"),
		family: str(v, "family"), missingTool: str(v, "missing_tool"),
	}
	if span := str(v, "name_range"); span != "" {
		o.ranged, o.both = true, o.name != ""
		o.name = span
	}
	o.position = whole(v.GetAttr("position"))
	if v.Type().HasAttribute("recursive") {
		o.recursive = v.GetAttr("recursive").True()
	}
	for _, arg := range list(v, "argv") {
		o.argv = append(o.argv, arg.AsString())
	}
	for _, code := range list(v, "tolerate") {
		o.tolerate = append(o.tolerate, whole(code))
	}
	return o
}

func str(v cty.Value, name string) string {
	if !v.Type().HasAttribute(name) || v.GetAttr(name).IsNull() {
		return ""
	}
	return v.GetAttr(name).AsString()
}

func list(v cty.Value, name string) []cty.Value {
	if !v.Type().HasAttribute(name) || v.GetAttr(name).IsNull() {
		return nil
	}
	return v.GetAttr(name).AsValueSlice()
}

func whole(v cty.Value) int {
	if v.IsNull() {
		return -1
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

// rules hold what the schema cannot say.
func (o options) rules() error {
	switch o.kind {
	case "remove_path":
		if o.path == "/" || o.recursive && strings.Count(o.path, "/") == 1 {
			return block.Advicef("%s stands at the top of the file system and is never removed; write the path of what is to go inside it.", o.path)
		}
	case "delete_link":
		if o.name == "" || o.both {
			return block.Advicef("Write exactly one of name and name_range.")
		}
		if o.ranged {
			span, err := thing.ParseSpan(o.name)
			if err == nil && span.Prefix == "" {
				err = block.Advicef("%q names no link; write the common start of the names too, for example \"wg%s\".", o.name, o.name)
			}
			return err
		}
	case "flush_routes", "delete_rules":
		return checkTables(o.tables)
	case "delete_nft_table":
		if strings.ContainsAny(o.name, " \t\n;{}\"'") || o.name == "" {
			return block.Advicef("%q is no name of an nftables table.", o.name)
		}
	}
	for _, code := range o.tolerate {
		if code < 0 || code > 255 {
			return block.Advicef("%d is no exit code; write numbers from 0 to 255.", code)
		}
	}
	return nil
}

// firstSystemTable is the first of the tables default, main and local, which
// every host needs.
const firstSystemTable, lastSystemTable = 253, 255

func checkTables(s string) error {
	span, err := thing.ParseSpan(s)
	switch {
	case err != nil:
		return err
	case span.Prefix != "" || span.First < 1:
		return block.Advicef("%q is no range of tables; write numbers from 1 on, for example \"51820-51899\".", s)
	case span.First <= lastSystemTable && span.Last >= firstSystemTable:
		return block.Advicef("%q holds one of the tables 253 to 255 (default, main, local), which the host itself needs; write other tables.", s)
	}
	return nil
}

// residue is what the action removes.
func (o options) residue() thing.Residue {
	switch o.kind {
	case "stop_unit":
		return thing.Residue{Subject: thing.ResidueRunning, Name: o.name}
	case "disable_unit":
		return thing.Residue{Subject: thing.ResidueEnabled, Name: o.name}
	case "remove_path":
		return thing.Residue{Subject: thing.ResiduePath, Name: o.path}
	case "unmount":
		return thing.Residue{Subject: thing.ResidueMount, Name: o.path}
	case "delete_link":
		return thing.Residue{Subject: thing.ResidueLink, Name: o.name, Range: o.ranged, Kind: o.linkKind}
	case "flush_routes":
		return thing.Residue{Subject: thing.ResidueRoutes, Name: o.tables}
	case "delete_rules":
		return thing.Residue{Subject: thing.ResidueRules, Name: o.tables}
	case "delete_nft_table":
		return thing.Residue{Subject: thing.ResidueOther, Name: "nft table " + o.family + " " + o.name}
	}
	return thing.Residue{Subject: thing.ResidueOther, Name: strings.Join(o.argv, " ")}
}

// Owns names the targets, each once.
func (s *step) Owns() []thing.Owned {
	var owned []thing.Owned
	seen := map[thing.Key]bool{}
	for _, o := range s.actions {
		r := o.residue()
		if o.kind == "run" || seen[r.Key()] {
			continue
		}
		seen[r.Key()] = true
		owned = append(owned, thing.Owned{Thing: r, Foreign: true})
	}
	return owned
}
