package editor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/editor"
)

const machine = `nspawn_machine "kube1" {
  rootfs {
    image = "registry.example/worker@sha256:0000000000000000000000000000000000000000000000000000000000000000"
  }
  before_boot {
    write_file_if_changed "inner" {
      path    = "/etc/inner"
      content = "x\n"
    }
%s
  }
  after_boot {
%s
  }
}
`

// TestCompletion: what is offered at ‸, and what the text becomes with the first
// of what is expected. A word with - must not be offered.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"files/app.conf": "x", "base/recipe.hcl": strings.Replace(head, "demo", "base", 1) + "output \"url\" {\n  value = \"x\"\n}\n",
		"tests/fixture": "", ".git/config": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inside := func(before, after string) string {
		return strings.Replace(strings.Replace(machine, "%s", before, 1), "%s", after, 1)
	}
	for name, test := range map[string]struct{ text, offers, becomes string }{
		"top level":             {"wri‸", "write_file_if_changed systemd_unit variable stage use locals -supports", "write_file_if_changed \"${1:name}\" {\n  path = \"$2\"\n  $0\n}"},
		"once only":             {"rec‸", "-recipe variable", ""},
		"arguments":             {"directory \"d\" {\n  mode = \"0755\"\n  p‸\n}\n", "path owner when for_each on_drift -mode -content", `path = "$1"`},
		"in an unclosed block":  {"directory \"d\" {\n  ‸\n\nlocals {\n  a = 1\n}\n", "path", ""},
		"nested blocks":         {"systemd_unit \"a.service\" {\n  dr‸\n}\n", "drop_in start_unless enable -retry", ""},
		"retry":                 {"download \"a\" {\n  re‸\n}\n", "retry", ""},
		"in retry":              {"download \"a\" {\n  retry {\n    ‸\n  }\n}\n", "attempts delay max_delay -when", ""},
		"header":                {"recipe \"x\" {\n  ‸\n}\n", "language version interpreter supports fingerprint", ""},
		"supports":              {"recipe \"x\" {\n  supports \"d\" {\n    ‸\n  }\n}\n", "id variant_id version_id default_prefix", ""},
		"validation":            {"variable \"x\" {\n  validation {\n    ‸\n  }\n}\n", "condition error_message", ""},
		"stage":                 {"stage \"s\" {\n  ‸\n}\n", "description when directory -variable -stage", ""},
		"nothing in locals":     {"locals {\n  ‸\n}\n", "-path -directory", ""},
		"before_boot":           {inside("    ‸", ""), "write_file_if_changed stage -wait_for -nspawn_machine", ""},
		"after_boot":            {inside("", "    ‸"), "wait_for command -nspawn_machine -require_capability", ""},
		"one of, bare":          {"directory \"d\" {\n  on_drift = ‸\n}\n", `"hold" "report" var host`, ""},
		"one of, quoted":        {"directory \"d\" {\n  on_drift = \"ho‸\"\n}\n", "hold repair -var", ""},
		"bool":                  {"systemd_unit \"a.service\" {\n  enable = ‸\n}\n", "true false var upper", ""},
		"roots and functions":   {"locals {\n  a = ‸\n}\n", "var local host use upper jsonencode -each", "var"},
		"function call":         {"locals {\n  a = upp‸\n}\n", "upper", "upper($0)"},
		"variables":             {head + "locals {\n  a = var.‸\n}\n", "name -upper", "name"},
		"in a template":         {head + "locals {\n  a = \"x ${var.‸}\"\n}\n", "name", "name"},
		"in an open template":   {head + "locals {\n  a = \"x ${var.‸\"\n}\n", "name", "name"},
		"in a heredoc":          {head + "locals {\n  a = <<-EOT\n    ${local.‸}\n  EOT\n  b = 2\n}\n", "b", "b"},
		"locals":                {"locals {\n  a = 1\n  b = local.‸\n}\n", "a", "a"},
		"facts":                 {"locals {\n  a = host.‸\n}\n", "os arch systemd prefix -id", "os"},
		"facts of the system":   {"locals {\n  a = host.os.v‸\n}\n", "version_id id variant_id -arch", "version_id"},
		"each":                  {"directory \"d\" {\n  for_each = [\"a\"]\n  path = \"/srv/${each.‸}\"\n}\n", "key value", "key"},
		"each is a root":        {"directory \"d\" {\n  for_each = [\"a\"]\n  path = ‸\n}\n", "each", "each"},
		"self":                  {inside("", "") + "locals {\n  a = self.‸\n}\n", "name root", ""},
		"steps to watch":        {body + "restart_on_change \"x.service\" {\n  watch = [‸]\n}\n", `write_file_if_changed.settings systemd_unit["demo.service"]`, ""},
		"earlier steps only":    {"restart_on_change \"x.service\" {\n  watch = [‸]\n}\n" + body, "-write_file_if_changed.settings", ""},
		"labels":                {body + "restart_on_change \"x.service\" {\n  watch = [write_file_if_changed.‸]\n}\n", "settings", "settings"},
		"labels in brackets":    {body + "restart_on_change \"x.service\" {\n  watch = [systemd_unit[\"d‸\"]]\n}\n", "demo.service", "demo.service"},
		"label that is no name": {body + "restart_on_change \"x.service\" {\n  watch = [systemd_unit.‸]\n}\n", "demo.service", `["demo.service"]`},
		"exports":               {inside("", "") + "locals {\n  a = nspawn_machine.kube1.‸\n}\n", "root name registered_before write_file_if_changed", "root"},
		"steps of a machine":    {inside("", "") + "locals {\n  a = nspawn_machine.kube1.write_file_if_changed.‸\n}\n", "inner", "inner"},
		"inside the machine":    {inside("", "    restart_on_change \"x.service\" {\n      watch = [write_file_if_changed.‸]\n    }"), "inner", "inner"},
		"assets":                {"write_file_if_changed \"f\" {\n  source = \"‸\"\n}\n", "files/app.conf -tests/fixture -.git/config", "files/app.conf"},
		"used recipes":          {"use \"base\" {\n  source = \"./base\"\n}\nlocals {\n  a = use.‸\n}\n", "base", "base"},
		"outputs":               {"use \"base\" {\n  source = \"./base\"\n}\nlocals {\n  a = use.base.‸\n}\n", "url", "url"},
		"unit directives":       {"systemd_unit \"a.service\" {\n  content = <<-EOT\n    [Service]\n    Rest‸\n  EOT\n}\n", "Restart RestartSec ExecStart -WantedBy", "Restart="},
		"unit drop-in":          {"systemd_unit \"a.service\" {\n  drop_in \"10-a.conf\" {\n    content = <<-EOT\n      [Install]\n      ‸\n    EOT\n  }\n}\n", "WantedBy Alias -ExecStart", ""},
		"no directive in value": {"systemd_unit \"a.service\" {\n  content = <<-EOT\n    [Service]\n    Restart=‸\n  EOT\n}\n", "-Restart", ""},
		"after an operator":     {"locals {\n  a = 1.‸\n}\n", "-var -upper", ""},
		"unknown block":         {"nonsense \"x\" {\n  ‸\n}\n", "-path -when", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			uri := uriIn(dir, "recipe.hcl")
			if name != "header" && name != "supports" && !strings.Contains(test.text, "recipe \"demo\"") {
				test.text = head + test.text
			}
			text, p := place(t, test.text)
			c.open(uri, text)
			var list editor.CompletionList
			c.call("textDocument/completion", at(uri, p), &list)
			checkOffers(t, list, test.offers)
			if test.becomes == "" {
				return
			}
			first := list.Items[slices.IndexFunc(list.Items, func(i editor.CompletionItem) bool { return i.Label == strings.Fields(test.offers)[0] })]
			if first.TextEdit.NewText != test.becomes || first.TextEdit.Range.End != p {
				t.Errorf("%s makes %q at %+v, want %q before %+v", first.Label, first.TextEdit.NewText, first.TextEdit.Range, test.becomes, p)
			}
		})
	}
}

func checkOffers(t *testing.T, list editor.CompletionList, offers string) {
	t.Helper()
	var labels []string
	for _, i := range list.Items {
		labels = append(labels, i.Label)
		if i.TextEdit == nil || i.SortText == "" || i.Kind == 0 {
			t.Errorf("an item that is incomplete: %+v", i)
		}
	}
	for _, want := range strings.Fields(offers) {
		name, not := strings.CutPrefix(want, "-")
		if slices.Contains(labels, name) == not {
			t.Errorf("offers %q; %s", labels, want)
		}
	}
}

// TestCompletionDocumentation: what is offered says what it is.
func TestCompletionDocumentation(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text, p := place(t, head+"directory \"d\" {\n  path = var.name\n  ‸\n}\n")
	c.open(uri, text)
	var list editor.CompletionList
	c.call("textDocument/completion", at(uri, p), &list)
	for _, i := range list.Items {
		if i.Documentation == nil || i.Documentation.Value == "" || i.Documentation.Kind != "markdown" || i.Detail == "" {
			t.Errorf("%s has no documentation: %+v", i.Label, i)
		}
	}
}

// TestPlainClient: a client that knows no snippets gets none.
func TestPlainClient(t *testing.T) {
	c := connect(t)
	c.call("initialize", `{"capabilities":{}}`, nil)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text, p := place(t, head+"directory \"d\" {\n  ‸\n}\n")
	c.open(uri, text)
	var list editor.CompletionList
	c.call("textDocument/completion", at(uri, p), &list)
	for _, i := range list.Items {
		if i.InsertTextFormat == 2 || strings.Contains(i.TextEdit.NewText, "$") {
			t.Errorf("a snippet: %+v", i)
		}
	}
	c.call("textDocument/completion", at(uri, editor.Position{}), &list)
	for _, i := range list.Items {
		if i.InsertTextFormat == 2 || i.Kind == 7 && !strings.HasSuffix(i.TextEdit.NewText, `"" {`) {
			t.Errorf("a snippet: %+v", i)
		}
	}
}
