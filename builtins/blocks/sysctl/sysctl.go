// Package sysctl is the block for kernel parameters: a drop-in that is read at
// boot, and the values in force now.
package sysctl

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"regexp"
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
		Name: "sysctl", Version: 1, Example: example, HostOnly: true,
		Doc: block.Doc{
			Summary: "Kernel parameters: the values in force now and those set at boot.",
			Text:    doc,
			Checks: "The drop-in file, byte for byte, and each value in force; blanks and tabs in a value are the same. " +
				"On a host that does not run, the file only.",
			Owns:   "`path:` and the drop-in; `sysctl:` and each parameter's name with dots.",
			Resets: "Each parameter gets the value that was in force before, and the drop-in is removed or put back.",
		},
		Schema: block.Schema{Attrs: []block.Attr{pathAttr(), valuesAttr()}},
		New:    newStep,
	}
}

// dir is where an administrator's drop-ins are: of files with one name, the
// one here wins.
const dir = "/etc/sysctl.d"

func pathAttr() block.Attr {
	a := block.AbsPath("path").Must().Names().Says("The drop-in, a file `/etc/sysctl.d/NAME.conf`. Of several files the one whose name sorts last wins, so names start with a number: `90-demo.conf`.")
	check := a.Check
	a.Check = func(v cty.Value) error {
		if err := check(v); err != nil {
			return err
		}
		if name := v.AsString(); path.Dir(name) != dir || !strings.HasSuffix(name, ".conf") || path.Base(name)[0] == '.' {
			return block.Advicef("%q is not read at boot; write for example %q.", name, dir+"/90-demo.conf")
		}
		return nil
	}
	return a
}

func valuesAttr() block.Attr {
	return block.Attr{
		Name: "values", Type: cty.Map(cty.String), Required: true, Owned: true, Grammar: "object of kernel parameters",
		Doc:   "The values by parameter, with dots or slashes as sysctl(8) takes them: `{ \"net.ipv4.ip_forward\" = 1 }`.",
		Check: checkValues,
	}
}

var parameter = regexp.MustCompile(`^[A-Za-z0-9_-]+([./][A-Za-z0-9_:@-]+)+$`)

func checkValues(v cty.Value) error {
	names := map[string]string{}
	if v.LengthInt() == 0 {
		return block.Advicef("Write at least one parameter, for example { \"net.ipv4.ip_forward\" = \"1\" }.")
	}
	for key, value := range v.AsValueMap() {
		name := thing.SysctlName(key)
		switch {
		case strings.ContainsAny(key, "*?["):
			return block.Advicef("%q is a pattern, whose values could not be put back; write each parameter out.", key)
		case !parameter.MatchString(key) || key[0] == '-':
			return block.Advicef("%q is no kernel parameter; write one such as \"net.ipv4.ip_forward\".", key)
		case names[name] != "":
			return block.Advicef("%q and %q are the same parameter; write it once.", names[name], key)
		case !value.IsNull() && value.IsKnown() && (strings.TrimSpace(value.AsString()) == "" || strings.ContainsAny(value.AsString(), "\n\r\x00")):
			return block.Advicef("The value of %q is empty or not one line.", key)
		case value.IsNull():
			return block.Advicef("The value of %q is null; leave the parameter out instead.", key)
		}
		names[name] = key
	}
	return nil
}

type step struct {
	file   block.WholeFile
	names  []string          // of parameters, dotted, sorted
	values map[string]string // by dotted name
}

func newStep(args block.Args) (block.Step, hcl.Diagnostics) {
	s := &step{values: map[string]string{}}
	for key, value := range args.Value.GetAttr("values").AsValueMap() {
		s.values[thing.SysctlName(key)] = thing.SysctlValue(value.AsString())
	}
	s.names = slices.Sorted(maps.Keys(s.values))
	var text strings.Builder
	for _, name := range s.names {
		fmt.Fprintf(&text, "%s = %s\n", name, s.values[name])
	}
	s.file = block.WholeFile{
		Path: args.Value.GetAttr("path").AsString(), Bytes: []byte(text.String()), Mode: 0o644, What: "the drop-in",
	}
	return s, nil
}

// Owns names the file and the values in force, in this order.
func (s *step) Owns() []thing.Owned {
	owned := []thing.Owned{s.file.Owned()}
	for _, name := range s.names {
		want := thing.State{Kind: thing.Present, Value: s.values[name]}
		owned = append(owned, thing.Owned{Thing: thing.Sysctl(name), Want: &want, Foreign: true})
	}
	return owned
}

// Check compares the file and the values in force.
func (s *step) Check(ctx context.Context, in block.Look) (block.Change, error) {
	change, err := s.file.Check(ctx, in.View)
	if err != nil {
		return block.OrUnknown(s.file.Path, err)
	}
	parts := []block.Change{change}
	if !in.View.Identity.Live {
		parts = append(parts, block.Change{Deferred: []string{"kernel parameters of " + s.file.Path + " are set at boot"}})
		return block.Together(parts...), nil
	}
	for _, name := range s.names {
		change, err := s.value(ctx, in, name)
		if err != nil {
			return block.Change{}, err
		}
		parts = append(parts, change)
	}
	return block.Together(parts...), nil
}

// Apply writes the file and sets the values that differ.
func (s *step) Apply(ctx context.Context, do block.Do) error {
	if err := s.file.Apply(ctx, do.Host.Files); err != nil {
		return err
	}
	s.warnOfConflicts(do)
	if !do.Host.Identity.Live {
		return nil
	}
	for _, name := range s.names {
		if err := s.set(ctx, do, name); err != nil {
			return fmt.Errorf("kernel parameter %s: %w", name, err)
		}
	}
	return nil
}

// Reset puts a value or the file back.
func (s *step) Reset(ctx context.Context, do block.Do, t thing.Thing, o thing.Origin) error {
	if t.Key() == thing.Path(s.file.Path).Key() {
		return s.file.Reset(ctx, do, o)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("kernel parameter %s: %w", t.Key().Name(), err)
	}
	return thing.Sysctl(t.Key().Name()).PutBack(ctx, do.Host, o, do.Keep)
}
