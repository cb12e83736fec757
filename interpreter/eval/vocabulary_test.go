package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// The vocabulary of the specification suite: small relatives of the core
// steps that own things and do nothing.

// claim is a thing that can only be named.
type claim thing.Key

func (c claim) Key() thing.Key { return thing.Key(c) }
func (c claim) Look(context.Context, host.View) (thing.State, error) {
	return thing.State{}, errors.ErrUnsupported
}
func (c claim) PutBack(context.Context, host.Host, thing.Origin, thing.Keeper) error {
	return errors.ErrUnsupported
}

// idle is a step that owns things.
type idle struct {
	owns []string
	args block.Args
}

func (s idle) Owns() []thing.Owned {
	list := make([]thing.Owned, len(s.owns))
	for i, key := range s.owns {
		list[i] = thing.Owned{Thing: claim(key)}
	}
	return list
}
func (s idle) Watches() ([]string, string) {
	if !s.args.Value.Type().HasAttribute("watch") {
		return nil, ""
	}
	var list []string
	for _, v := range s.args.Value.GetAttr("watch").AsValueSlice() {
		list = append(list, v.AsString())
	}
	return list, nameOr(s.args)
}
func (s idle) NeedsWatcher() bool {
	ty := s.args.Value.Type()
	return ty.HasAttribute("state") && get(s.args, "state") == "started" && get(s.args, "content") != ""
}
func (s idle) Check(context.Context, block.Look) (block.Change, error) { return block.NoChange(), nil }
func (s idle) Apply(context.Context, block.Do) error                   { return nil }
func (s idle) Reset(context.Context, block.Do, thing.Thing, thing.Origin) error {
	return nil
}

func get(a block.Args, name string) string {
	if v := a.Value.GetAttr(name); !v.IsNull() {
		return v.AsString()
	}
	return ""
}

func nameOr(a block.Args) string {
	if s := get(a, "name"); s != "" {
		return s
	}
	return a.Label
}

func export(name string, value func(block.Args) string) func(block.Args) (map[string]block.Export, error) {
	return func(a block.Args) (map[string]block.Export, error) {
		return map[string]block.Export{name: {Value: cty.StringVal(value(a))}}, nil
	}
}

func fileType() *block.Type {
	content := block.Text("content").MaySecret().Says("What the file holds.")
	content.Bulk = true
	source := block.Text("source")
	source.Asset = true
	old := block.Text("text")
	old.Deprecated = "use content."
	return &block.Type{
		Name: "write_file_if_changed", Version: 1,
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.AbsPath("path").Must().Names().Says("Where the file is."), content, source, old,
				block.Mode("mode", "0644"), {Name: "limits", Type: cty.Map(cty.Number), Sensitive: true},
				block.Argv("validate"), block.Choice("merge", "", "json", "yaml"), {Name: "kind", Type: cty.String, OneOf: []string{"plain", "secret"}},
			},
			Exports: []block.Attr{{Name: "path", Type: cty.String}},
		},
		Exports: export("path", func(a block.Args) string { return get(a, "path") }),
		New: func(a block.Args) (block.Step, hcl.Diagnostics) {
			if !a.Value.GetAttr("content").IsNull() && !a.Value.GetAttr("source").IsNull() {
				return nil, hcl.Diagnostics{a.Fault("source", "Two contents", "Write content or source, not both.")}
			}
			return idle{[]string{"path:" + get(a, "path")}, a}, nil
		},
	}
}

func unitType() *block.Type {
	return &block.Type{
		Name: "systemd_unit", Version: 2,
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.UnitName("name").Names(), block.Text("content"), block.Choice("state", "", "started", "stopped").Starts(),
				{Name: "settings", Type: cty.Map(cty.String)},
			},
			Blocks: []block.Nested{{
				Name: "drop_in", Labels: []string{"name"}, Max: 2, Doc: "An addition.",
				Schema: block.Schema{Attrs: []block.Attr{block.Text("content").Must().MaySecret()}},
			}},
			Exports: []block.Attr{{Name: "name", Type: cty.String}},
		},
		Exports: export("name", nameOr),
		New: func(a block.Args) (block.Step, hcl.Diagnostics) {
			owns := []string{"path:/etc/systemd/system/" + nameOr(a), "unit-active:" + nameOr(a)}
			for _, d := range a.Value.GetAttr("drop_in").AsValueSlice() {
				owns = append(owns, "path:/etc/systemd/system/"+nameOr(a)+".d/"+d.GetAttr("name").AsString()+".conf")
			}
			return idle{owns, a}, nil
		},
	}
}

func restartType() *block.Type {
	return &block.Type{
		Name: "restart_on_change", Version: 1, Runs: true, Retryable: []block.FaultClass{block.FaultBusy},
		Schema: block.Schema{Attrs: []block.Attr{
			block.UnitName("name"), {Name: "watch", Type: cty.List(cty.String), Refs: true, Required: true},
		}},
		New: func(a block.Args) (block.Step, hcl.Diagnostics) { return idle{nil, a}, nil },
	}
}

func requireType() *block.Type {
	return &block.Type{
		Name: "require_capability", Version: 1, HostOnly: true, Preflight: true,
		Schema: block.Schema{Attrs: []block.Attr{block.Text("executable"), {Name: "count", Type: cty.Number}}},
		New:    func(a block.Args) (block.Step, hcl.Diagnostics) { return idle{nil, a}, nil },
	}
}

func resetType() *block.Type {
	action := func(name, attr string) block.Nested {
		return block.Nested{Name: name, Actions: true, Schema: block.Schema{Attrs: []block.Attr{block.Text(attr).Must()}}}
	}
	return &block.Type{
		Name: "reset_step", Version: 1,
		Schema: block.Schema{Blocks: []block.Nested{action("stop_unit", "name"), action("remove_path", "path")}},
		New:    func(a block.Args) (block.Step, hcl.Diagnostics) { return idle{nil, a}, nil },
	}
}

func machineType() *block.Type {
	steps := func(name string) block.Nested { return block.Nested{Name: name, Steps: true, Max: 1} }
	return &block.Type{
		Name: "nspawn_machine", Version: 1, HostOnly: true,
		Phases: []block.Phase{
			{Name: "rootfs"}, {Name: "before_boot", Steps: true, Inside: true, AtRest: true}, {Name: "boot"},
			{Name: "after_boot", Steps: true, Inside: true}, {Name: "ready"}, {Name: "after_stop", Steps: true, Bare: "reset_step"},
		},
		Schema: block.Schema{
			Attrs: []block.Attr{
				block.Text("name").Names(), {Name: "slots", Type: cty.List(cty.String), Owned: true},
			},
			Blocks: []block.Nested{
				{Name: "rootfs", Min: 1, Max: 1, Schema: block.Schema{Attrs: []block.Attr{block.Text("image").Must()}}},
				{Name: "settings", Max: 1, PerSlot: true, Schema: block.Schema{Attrs: []block.Attr{{Name: "bind", Type: cty.List(cty.String)}}}},
				steps("before_boot"), steps("after_boot"), steps("after_stop"),
			},
			Exports: []block.Attr{
				{Name: "name", Type: cty.String}, {Name: "root", Type: cty.String}, {Name: "registered_before", Type: cty.Bool},
			},
		},
		Exports: func(a block.Args) (map[string]block.Export, error) {
			return map[string]block.Export{
				"name": {Value: cty.StringVal(a.Self)}, "root": {Value: cty.StringVal(host.MachineRoot(a.Self))},
				"registered_before": {Registered: []string{a.Self}},
			}, nil
		},
		New: func(a block.Args) (block.Step, hcl.Diagnostics) {
			if a.Phase != "rootfs" {
				return idle{nil, a}, nil
			}
			owns := []string{"machine:" + a.Self}
			for _, s := range a.Value.GetAttr("settings").AsValueSlice() {
				owns = append(owns, "path:/etc/systemd/nspawn/"+s.GetAttr("slot").AsString()+".nspawn")
			}
			return idle{owns, a}, nil
		},
	}
}

func testVocabulary() block.Vocabulary {
	types := []*block.Type{fileType(), unitType(), restartType(), requireType(), resetType(), machineType()}
	slices.SortFunc(types, func(a, b *block.Type) int { return strings.Compare(a.Name, b.Name) })
	return block.Vocabulary{Types: types, Functions: testFunctions}
}

func testFunctions(assets block.Assets) map[string]function.Function {
	text := []function.Parameter{{Name: "value", Type: cty.String}}
	return map[string]function.Function{
		"try": tryfunc.TryFunc, "can": tryfunc.CanFunc, "format": stdlib.FormatFunc, "jsonencode": stdlib.JSONEncodeFunc,
		"upper": stdlib.UpperFunc, "trimprefix": stdlib.TrimPrefixFunc, "coalesce": stdlib.CoalesceFunc,
		"tostring": stdlib.MakeToFunc(cty.String), "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "keys": stdlib.KeysFunc,
		"parseint": stdlib.ParseIntFunc, "length": stdlib.LengthFunc,
		"sensitive": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowMarked: true, AllowUnknown: true, AllowNull: true, AllowDynamicType: true}},
			Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return block.MarkSensitive(args[0]), nil },
		}),
		"file": function.New(&function.Spec{Params: text, Type: function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				b, err := assets.ReadFile(args[0].AsString())
				return cty.StringVal(string(b)), err
			}}),
	}
}

// fakeLookups answers look-ups from a small description of a host.
type fakeLookups struct {
	Files       map[string]string `json:"files"`
	Executables map[string]string `json:"executables"`
	Machines    []string          `json:"machines"`
	Units       map[string]string `json:"units"`
	Listeners   map[string]string `json:"listeners"`
	// Unknown makes every answer unknown, Broken an error.
	Unknown bool `json:"unknown"`
	Broken  bool `json:"broken"`
	asked   []string
}

func (f *fakeLookups) ask(what, arg string) error {
	f.asked = append(f.asked, what+" "+arg)
	switch {
	case f.Unknown:
		return host.Unknownf("%s", arg)
	case f.Broken:
		return fmt.Errorf("%s: input/output error", arg)
	}
	return nil
}

func (f *fakeLookups) FileExists(p string) (bool, error) {
	_, ok := f.Files[p]
	return ok, f.ask("file_exists", p)
}
func (f *fakeLookups) FileSHA256(p string) (string, error) {
	text, ok := f.Files[p]
	if !ok {
		return "", f.ask("file_sha256", p)
	}
	return strings.TrimPrefix(digest([]byte(text)), "sha256:"), f.ask("file_sha256", p)
}
func (f *fakeLookups) Glob(p string) ([]string, error) {
	var list []string
	for _, name := range sortedKeys(f.Files) {
		if strings.HasPrefix(name, strings.TrimSuffix(p, "*")) {
			list = append(list, name)
		}
	}
	return list, f.ask("glob", p)
}
func (f *fakeLookups) Executable(name string) (string, error) {
	return f.Executables[name], f.ask("executable", name)
}
func (f *fakeLookups) MachineRegistered(name string) (bool, error) {
	return slices.Contains(f.Machines, name), f.ask("machine_registered", name)
}
func (f *fakeLookups) UnitState(name string) (host.UnitState, error) {
	return host.UnitState{LoadState: "loaded", ActiveState: f.Units[name]}, f.ask("unit_state", name)
}
func (f *fakeLookups) Listener(addr string) (*host.ListenerState, error) {
	exe, ok := f.Listeners[addr]
	if !ok {
		return nil, f.ask("listener", addr)
	}
	return &host.ListenerState{Address: addr, Exe: exe, Root: "/"}, f.ask("listener", addr)
}

func parseLookups(text []byte) (Lookups, error) {
	f := &fakeLookups{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, f); err != nil {
			return Lookups{}, err
		}
	}
	return Lookups{Files: f, System: f}, nil
}
