package eval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter/eval"
)

// inspect inspects a recipe below a header.
func inspect(t *testing.T, text string) *eval.Inspection {
	t.Helper()
	fsys := fstest.MapFS{
		"recipe.hcl":       {Data: []byte("recipe \"demo\" {\n  language = 1\n  version  = \"1.0.0\"\n  supports \"any\" {}\n}\n" + text)},
		"other/recipe.hcl": {Data: []byte("recipe \"other\" {\n  language = 1\n  version  = \"1.0.0\"\n  supports \"any\" {}\n}\ndirectory \"o\" {\n  path = \"/other\"\n}\n")},
	}
	r, diags := eval.Load(eval.Tree("", fsys, "."), builtins.Vocabulary(), eval.StandardLoader{}, "")
	in, more := r.Inputs(nil)
	i, rest := r.Inspect(in)
	if diags = append(append(diags, more...), rest...); diags.HasErrors() {
		t.Fatal(diags)
	}
	return i
}

const inspected = `
variable "known" {
  type    = string
  default = "k"
}
variable "unknown" {
  type = string
}
variable "secret" {
  type      = string
  default   = "s"
  sensitive = true
}
stage "first" {
  directory "plain" {
    path = "/${var.known}"
  }
  directory "off" {
    when = false
    path = "/off"
  }
}
use "more" {
  source = "./other"
}
directory "each" {
  for_each = ["a", "b"]
  path     = "/each/${each.key}"
}
directory "many" {
  for_each = toset([for i in range(100) : tostring(i)])
  path     = "/many/${each.key}"
}
directory "unsure" {
  for_each = { for k in [var.unknown] : k => k }
  path     = "/unsure/${each.key}"
}
write_file_if_changed "secret" {
  path    = "/secret"
  mode    = "0600"
  content = "x${var.secret}"
}
nspawn_machine "m" {
  slots = ["kube1", "kube2"]
  rootfs {
    image = "r.example/a:1"
  }
  settings {
    files = { Bind = ["/run/${self.name}"] }
  }
  before_boot {
    directory "inner" {
      path = "/in/${self.name}"
    }
  }
}
systemd_unit "a.service" {
  drop_in "10-a.conf" {
    content = "[Service]\n"
  }
}
restart_on_change "a.service" {
  watch = [directory.plain, directory.each, directory.each["b"], nspawn_machine.m.directory.inner, systemd_unit["a.service"]]
}
output "plain" {
  value = directory.plain.path
}
`

func TestInspectSteps(t *testing.T) {
	i := inspect(t, inspected)
	var got []string
	many := 0
	for n, s := range i.Steps {
		if s.Order != n {
			t.Errorf("%s has the order %d, not %d", s.Address, s.Order, n)
		}
		if s.Label == "many" {
			many++
			continue
		}
		path, _ := s.Arg("path").Text()
		got = append(got, fmt.Sprintf("%s path=%s stage=%s machine=%s part=%s off=%v used=%v", s.Address, path, s.Stage, s.Machine, s.Part, s.Off, s.Used))
	}
	want := `directory.plain path=/k stage=first machine= part= off=false used=false
directory.off path=/off stage=first machine= part= off=true used=false
use.more.directory.o path=/other stage= machine= part= off=false used=true
directory.each["a"] path=/each/a stage= machine= part= off=false used=false
directory.each["b"] path=/each/b stage= machine= part= off=false used=false
directory.unsure path= stage= machine= part= off=false used=false
write_file_if_changed.secret path=/secret stage= machine= part= off=false used=false
nspawn_machine.m path= stage= machine= part= off=false used=false
nspawn_machine.m.directory.inner path=/in/kube1 stage= machine=kube1 part=before_boot off=false used=false
systemd_unit["a.service"] path= stage= machine= part= off=false used=false
restart_on_change["a.service"] path= stage= machine= part= off=false used=false`
	if strings.Join(got, "\n") != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if many != 32 {
		t.Errorf("%d instances are looked at", many)
	}
}

func find(t *testing.T, i *eval.Inspection, address string) *eval.Inspected {
	t.Helper()
	for _, s := range i.Steps {
		if s.Address == address {
			return s
		}
	}
	t.Fatalf("there is no %s", address)
	return nil
}

func TestInspectArguments(t *testing.T) {
	i := inspect(t, inspected)
	secret := find(t, i, "write_file_if_changed.secret")
	content := secret.Arg("content")
	if _, ok := content.Text(); ok || !content.Sensitive || content.Value.IsKnown() || !content.Written() {
		t.Errorf("%+v", content)
	}
	if follow, ok := secret.Arg("follow").Bool(); follow || !ok || secret.Arg("follow").Written() {
		t.Error("a default is known and not written")
	}
	if none := secret.Arg("none"); none.Schema != nil || none.Value.IsKnown() {
		t.Errorf("%+v", none)
	}
	var names []string
	for _, a := range secret.Args() {
		names = append(names, a.Schema.Name)
	}
	if !slices.Equal(names, []string{"path", "content", "mode"}) {
		t.Errorf("%q", names)
	}
	machine := find(t, i, "nspawn_machine.m")
	if slots, whole := machine.Arg("slots").Texts(); !whole || !slices.Equal(slots, []string{"kube1", "kube2"}) || machine.Name() != "kube1" {
		t.Errorf("%q, name %q", slots, machine.Name())
	}
	settings := machine.Blocks("settings")[0]
	if v := settings.Arg("files").Value; !strings.Contains(v.GoString(), "/run/kube1") {
		t.Errorf("%#v", v)
	}
	if len(machine.Nested()) != 2 || len(machine.Blocks("service")) != 0 {
		t.Errorf("%d blocks", len(machine.Nested()))
	}
	unit := find(t, i, `systemd_unit["a.service"]`)
	if b := unit.Blocks("drop_in")[0]; b.Block.Labels[0] != "10-a.conf" || unit.Name() != "" {
		t.Errorf("%+v", b.Block.Labels)
	}
	off := find(t, i, "directory.off")
	if off.Common("when") == nil || off.Common("timeout") != nil {
		t.Error("the arguments that every step accepts")
	}
}

func TestInspectRefs(t *testing.T) {
	i := inspect(t, inspected)
	var got []string
	for _, ref := range find(t, i, `restart_on_change["a.service"]`).Refs("watch") {
		var addresses []string
		for _, s := range ref.Steps {
			addresses = append(addresses, s.Address)
		}
		got = append(got, strings.Join(addresses, " "))
	}
	want := []string{"directory.plain", `directory.each["a"] directory.each["b"]`, `directory.each["b"]`, "nspawn_machine.m.directory.inner", `systemd_unit["a.service"]`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if refs := find(t, i, "directory.plain").Refs("path"); refs != nil {
		t.Errorf("%v", refs)
	}
}

func TestInspectExpressions(t *testing.T) {
	fsys := fstest.MapFS{"recipe.hcl": {Data: []byte("recipe \"demo\" {\n  language = 1\n  version  = \"1.0.0\"\n  supports \"any\" {}\n}\nvariable \"s\" {\n  default   = \"s\"\n  sensitive = true\n}\nlocals {\n  a = upper(\"x\")\n  b = \"y${var.s}\"\n}\n")}}
	r, _ := eval.Load(eval.Tree("", fsys, "."), builtins.Vocabulary(), nil, "")
	in, _ := r.Inputs(nil)
	i, diags := r.Inspect(in)
	if diags.HasErrors() || i.Broken() || r.File().Name != "recipe.hcl" {
		t.Fatal(diags)
	}
	for _, b := range r.File().Body.Blocks {
		if b.Type != "locals" {
			continue
		}
		if v, secret := i.Eval(b.Body.Attributes["a"].Expr); secret || v.AsString() != "X" {
			t.Errorf("%#v", v)
		}
		if v, secret := i.Eval(b.Body.Attributes["b"].Expr); !secret || v.IsKnown() {
			t.Errorf("%#v", v)
		}
	}
	broken, _ := eval.Load(eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: []byte("a = {")}}, "."), builtins.Vocabulary(), nil, "")
	i, diags = broken.Inspect(eval.Inputs{})
	if !i.Broken() || len(i.Steps) > 0 || len(diags) > 0 {
		t.Error("a text that does not parse has no steps")
	}
	if v, _ := i.Eval(r.File().Body.Blocks[2].Body.Attributes["a"].Expr); v.IsKnown() {
		t.Errorf("%#v", v)
	}
}

func TestSatisfiable(t *testing.T) {
	for text, want := range map[string]bool{
		">= 3.0, < 4.0": true, ">= 24.04, < 22.04": false, "> 3, < 3.1": true, "= 3, != 3": false, "~> 3.0, >= 4": false, "~> 3.0, > 3.9": true,
		"< 0": false, "<= 0": true, "> 12": true, "= 1.0, = 1": true,
	} {
		if got, err := eval.Satisfiable(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := eval.Satisfiable("new"); err == nil {
		t.Error("\"new\" is no constraint")
	}
	if !eval.Allows(">= 12, < 13", "12.5") || eval.Allows(">= 12", "11") || eval.Allows("new", "1") || eval.Allows("> 1", "new") {
		t.Error("Allows")
	}
}
