package eval

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// TestArgs holds what a step is made from to its contract.
func TestArgs(t *testing.T) {
	var got []block.Args
	vocab := testVocabulary()
	unit := unitType()
	make := unit.New
	unit.New = func(a block.Args) (block.Step, hcl.Diagnostics) {
		got = append(got, a)
		return make(a)
	}
	vocab.Types = append(vocab.Types[:0:0], unit)
	r := load(t, vocab, `
variable "there" {
  sensitive = true
  default   = "canary"
}
variable "gone" { sensitive = true }
systemd_unit "a.service" {
  content = "x"
  drop_in "one" { content = "${var.there}!" }
  drop_in "two" { content = var.gone }
}
`)
	env := live()
	env.Prefix = "/opt"
	env.Keyed = func(d string) string { return "k" + d[7:10] }
	program, diags := r.Evaluate(Inputs{}, env)
	if len(diags) > 0 || len(got) != 1 || len(program.Steps) != 1 {
		t.Fatal(diagnosticsText(diags), len(got))
	}
	a := got[0]
	if a.Address != `systemd_unit["a.service"]` || a.Label != "a.service" || a.Prefix != "/opt" || a.Facts.Arch != "amd64" || a.Assets == nil || a.Self != "" {
		t.Errorf("%+v", a)
	}
	drops := a.Value.GetAttr("drop_in").AsValueSlice()
	if !a.Value.Type().Equals(unit.Schema.Type()) || a.Value.ContainsMarked() {
		t.Errorf("value of type %#v", a.Value.Type())
	}
	if drops[0].GetAttr("content").AsString() != "canary!" || !drops[1].GetAttr("content").IsNull() {
		t.Errorf("drop-ins %#v", drops)
	}
	wantHoles := map[string]block.Hole{"drop_in[1].content": {Vars: []string{"gone"}}}
	wantSecret := map[string]bool{"drop_in[0].content": true, "drop_in[1].content": true}
	if diff := cmp.Diff(wantHoles, a.Holes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantSecret, a.Secret); diff != "" {
		t.Error(diff)
	}
	var paths []string
	for path := range a.Ranges {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	if diff := cmp.Diff([]string{"", "content", "drop_in[0]", "drop_in[0].content", "drop_in[0].name", "drop_in[1]", "drop_in[1].content", "drop_in[1].name"}, paths); diff != "" {
		t.Error(diff)
	}
	if rng := a.Ranges["drop_in[0].content"]; rng.Start.Line != 14 {
		t.Errorf("range %v", rng)
	}
	p := program.Steps[0]
	if p.Source != "recipe.hcl" || p.Range.Start.Line != 12 || !p.Sensitive || !slices.Equal(p.NeedsInput, []string{"gone"}) {
		t.Errorf("%+v", p)
	}
	again, err := vocab.Restore(block.Store(p), block.Setting{})
	if err != nil || again.Step == nil || !slices.Equal(again.NeedsInput, []string{"gone", "there"}) {
		t.Errorf("restored %+v, %v", again, err)
	}
	if strings.Contains(string(p.Data), "canary") {
		t.Errorf("plain data hold a secret: %s", p.Data)
	}
}

// TestNeeded: a secret is needed where a step that may be on is made from it.
func TestNeeded(t *testing.T) {
	r := load(t, testVocabulary(), `
variable "off" { sensitive = true }
variable "maybe" { sensitive = true }
variable "spare" { sensitive = true }
variable "given" { sensitive = true }
variable "idle" {
  sensitive = true
  default   = null
}
variable "login" { default = "program" }
locals { all = "${var.maybe}${var.given}" }
systemd_unit "off.service" {
  when    = var.login == "token"
  content = "x"
  drop_in "one" { content = var.off }
}
systemd_unit "maybe.service" {
  when    = host.hostname == "one"
  content = "x"
  drop_in "one" { content = local.all }
}
systemd_unit "idle.service" {
  content = "x"
  drop_in "one" { content = coalesce(var.idle, "none") }
}
`)
	in, diags := r.Inputs([]Given{{Strength: FromFlag, Name: "given", Text: []byte("x")}})
	if got := r.Needed(in); diags.HasErrors() || !slices.Equal(got, []string{"maybe"}) {
		t.Errorf("%v %v, want maybe", got, diags)
	}
	in, _ = r.Inputs([]Given{{Strength: FromFlag, Name: "login", Text: []byte("token")}})
	if got := r.Needed(in); !slices.Equal(got, []string{"given", "maybe", "off"}) {
		t.Errorf("%v, want given, maybe and off", got)
	}
}

// TestLookupsAskOnce holds look-ups to one question each.
func TestLookupsAskOnce(t *testing.T) {
	r := load(t, testVocabulary(), `
locals { here = file_exists("/x") }
write_file_if_changed "a" {
  path    = "/a"
  content = tostring(file_exists("/x") == local.here)
}
write_file_if_changed "b" {
  path    = "/b"
  content = tostring(local.here) == "true" ? "y" : file_sha256("/y")
}
`)
	fake := &fakeLookups{Files: map[string]string{"/x": ""}}
	env := live()
	env.Lookups = Lookups{Files: fake}
	program, diags := r.Evaluate(Inputs{}, env)
	if len(diags) > 0 || len(program.Steps) != 2 {
		t.Fatal(diagnosticsText(diags))
	}
	if diff := cmp.Diff([]string{"file_exists /x", "file_sha256 /y"}, fake.asked); diff != "" {
		t.Error(diff)
	}
	env.Lookups = Lookups{}
	program, _ = r.Evaluate(Inputs{}, env)
	if program.Steps[0].Deferred == "" {
		t.Error("without look-ups nothing is known, and the step is not deferred")
	}
}

// TestVocabularyFaults holds faults of block types to being diagnostics.
func TestVocabularyFaults(t *testing.T) {
	broken := func(change func(*block.Type)) block.Vocabulary {
		typ := fileType()
		change(typ)
		return block.Vocabulary{Types: []*block.Type{typ}, Functions: testFunctions}
	}
	const body = "write_file_if_changed \"a\" { path = \"/a\" }\n"
	for want, vocab := range map[string]block.Vocabulary{
		"Step cannot be made": broken(func(t *block.Type) {
			t.Exports = func(block.Args) (map[string]block.Export, error) { return nil, errors.New("no exports") }
		}),
		"Invalid default": broken(func(t *block.Type) { t.Schema.Attrs[4].Default = cty.EmptyObjectVal }),
		"Made of nothing": broken(func(t *block.Type) {
			t.New = func(block.Args) (block.Step, hcl.Diagnostics) {
				return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Made of nothing"}}
			}
		}),
	} {
		_, diags := load(t, vocab, body).Evaluate(Inputs{}, live())
		if len(diags) != 1 || diags[0].Summary != want || diags[0].Subject == nil {
			t.Errorf("%s: %s", want, diagnosticsText(diags))
		}
	}
	vocab := broken(func(t *block.Type) {
		t.Exports = func(block.Args) (map[string]block.Export, error) {
			return map[string]block.Export{"path": {Value: cty.True}}, nil
		}
	})
	program, diags := load(t, vocab, body+"write_file_if_changed \"b\" {\n  path = \"/b\"\n  content = write_file_if_changed.a.path\n}\n").Evaluate(Inputs{}, live())
	if len(diags) > 0 || program.Steps[1].Deferred == "" {
		t.Errorf("an export of another type: %s", diagnosticsText(diags))
	}
}

// TestNestedTypes holds nested blocks with values of any type to not breaking
// the list they make.
func TestNestedTypes(t *testing.T) {
	typ := &block.Type{
		Name: "thing", Version: 1,
		Schema: block.Schema{Blocks: []block.Nested{{Name: "part", Schema: block.Schema{Attrs: []block.Attr{{Name: "v", Type: cty.DynamicPseudoType}}}}}},
		New: func(a block.Args) (block.Step, hcl.Diagnostics) {
			return idle{nil, block.Args{Value: cty.EmptyObjectVal}}, nil
		},
	}
	vocab := block.Vocabulary{Types: []*block.Type{typ}}
	_, diags := load(t, vocab, "thing \"x\" {\n  part { v = 1 }\n  part { v = \"a\" }\n}\n").Evaluate(Inputs{}, live())
	if len(diags) != 1 || diags[0].Summary != "Different blocks" {
		t.Error(diagnosticsText(diags))
	}
}
