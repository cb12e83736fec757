package editor_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/editor"
)

const body = `write_file_if_changed "settings" {
  path    = "/etc/demo.json"
  content = "${var.name}\n"
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Description=Demo 😀 of ${var.name}

    [Service]
    ExecStart=/usr/bin/demo
    Restrat=on-failure
    RestartSec=5s
  EOT
  state = "started"
}

restart_on_change "demo.service" {
  watch = [write_file_if_changed.settings, systemd_unit["demo.service"]]
}
`

// TestLife holds the beginning and the end of a connection to the protocol.
func TestLife(t *testing.T) {
	c := connect(t)
	if m := c.ask("textDocument/hover", `{}`); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", m)
	}
	c.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///x.hcl","version":1,"text":""}}`)
	var hello struct {
		Capabilities map[string]any
		ServerInfo   struct{ Name, Version string }
	}
	c.call("initialize", `{"processId":1,"rootUri":null,"capabilities":{}}`, &hello)
	if hello.ServerInfo.Name != "hostler" || hello.ServerInfo.Version != "0.1.0" || hello.Capabilities["positionEncoding"] != "utf-16" {
		t.Errorf("hello: %+v", hello)
	}
	for _, can := range []string{"completionProvider", "hoverProvider", "definitionProvider", "referencesProvider", "renameProvider",
		"documentFormattingProvider", "documentSymbolProvider", "signatureHelpProvider", "codeActionProvider", "semanticTokensProvider"} {
		if hello.Capabilities[can] == nil {
			t.Errorf("no %s", can)
		}
	}
	for method, code := range map[string]int{"initialize": -32600, "textDocument/nonsense": -32601, "textDocument/hover": -32602} {
		if m := c.ask(method, `{"textDocument":{"uri":"file:///nowhere.hcl"}}`); m.Error == nil || m.Error.Code != code {
			t.Errorf("%s: %+v, want %d", method, m.Error, code)
		}
	}
	if m := c.ask("textDocument/hover", `{"textDocument":7}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("parameters of another form: %+v", m)
	}
	c.call("shutdown", `null`, nil)
	if m := c.ask("textDocument/hover", `{}`); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("after shutdown: %+v", m)
	}
	c.notify("exit", `null`)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestExitWithoutShutdown(t *testing.T) {
	c := connect(t)
	c.notify("exit", `null`)
	if err := c.end(); err != editor.ErrNoShutdown {
		t.Errorf("ended with %v", err)
	}
}

// TestDiagnosticsAsYouType: each change is checked, a broken text too, and what
// is put right goes.
func TestDiagnosticsAsYouType(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	found := c.open(uri, head+body)
	if len(found) != 1 || found[0].Code != "unit-unknown-directive" || found[0].Severity != 1 || found[0].Source != "hostler" ||
		!strings.Contains(found[0].Message, "Restart") {
		t.Fatalf("found %+v", found)
	}
	line := strings.Count(head+body[:strings.Index(body, "Restrat")], "\n")
	want := editor.Range{Start: editor.Position{Line: line, Character: 4}, End: editor.Position{Line: line, Character: 11}}
	if found[0].Range != want {
		t.Errorf("at %+v, want %+v", found[0].Range, want)
	}
	c.edit(uri, want, "Restart")
	if found = c.diagnostics(uri); len(found) != 0 {
		t.Errorf("after the repair: %+v", found)
	}
	// A character outside of the basic plane is two units: the brace goes.
	emoji := line - 4
	open := strings.Index("    Description=Demo 😀 of ${var.name}", "$") - 2
	c.edit(uri, editor.Range{Start: editor.Position{Line: emoji, Character: open + 10}, End: editor.Position{Line: emoji, Character: open + 11}}, "")
	found = c.diagnostics(uri)
	if len(found) == 0 || found[0].Range.Start != (editor.Position{Line: emoji, Character: open}) || !strings.Contains(found[0].Message, "}") {
		t.Errorf("an unclosed template: %+v", found)
	}
	c.notify("textDocument/didClose", `{"textDocument":{"uri":`+quoted(uri)+`}}`)
	for p := c.push(); p.URI == uri && len(p.Diagnostics) > 0; p = c.push() {
	}
}

// TestOtherDocuments: what is no recipe is checked as what it is, and a file of
// a recipe as part of it.
func TestOtherDocuments(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"recipe.hcl":         head + "systemd_unit \"a.service\" {\n  source = \"files/a.service\"\n}\n",
		"files/a.service":    "[Service]\nExecStart=/usr/bin/a\n",
		"base/recipe.hcl":    strings.ReplaceAll(head, "demo", "base"),
		".hostler-lint.hcl":  "profile = \"basic\"\n",
		"tests/a.test.hcl":   "test \"x\" {\n",
		"site.hcl":           "name = \"x\"\n",
		"user/recipe.hcl":    head + "use \"base\" {\n  source = \"../base\"\n  inputs = { name = var.name }\n}\n",
		"user/files/nothing": "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	c := start(t)
	unit := uriIn(dir, "files/a.service")
	if found := c.open(uriIn(dir, "recipe.hcl"), read("recipe.hcl")); len(found) != 0 {
		t.Errorf("the recipe: %+v", found)
	}
	c.open(unit, read("files/a.service"))
	c.edit(unit, editor.Range{Start: editor.Position{Line: 1}, End: editor.Position{Line: 1, Character: 4}}, "Exce")
	for {
		p := c.push()
		if p.URI == unit && len(p.Diagnostics) > 0 {
			if i := slices.IndexFunc(p.Diagnostics, func(d editor.Diagnostic) bool { return d.Code == "unit-unknown-directive" }); i < 0 || p.Diagnostics[i].Range.Start.Line != 1 {
				t.Errorf("the unit: %+v", p)
			}
			break
		}
	}
	if found := c.open(uriIn(dir, ".hostler-lint.hcl"), "profile = \"bsic\"\n"); len(found) != 1 || !strings.Contains(found[0].Message, "basic") {
		t.Errorf("the configuration: %+v", found)
	}
	if found := c.open(uriIn(dir, "tests/a.test.hcl"), read("tests/a.test.hcl")); len(found) != 1 {
		t.Errorf("the test: %+v", found)
	}
	if found := c.open(uriIn(dir, "site.hcl"), read("site.hcl")); len(found) != 0 {
		t.Errorf("the inputs: %+v", found)
	}
	user := uriIn(dir, "user/recipe.hcl")
	if found := c.open(user, read("user/recipe.hcl")); len(found) != 0 {
		t.Errorf("the user: %+v", found)
	}
	// The variable of the used recipe goes, though that is not saved yet.
	c.open(uriIn(dir, "base/recipe.hcl"), strings.ReplaceAll(read("base/recipe.hcl"), "name", "other"))
	c.notify("textDocument/didSave", `{"textDocument":{"uri":`+quoted(user)+`}}`)
	for {
		if p := c.push(); p.URI == user && len(p.Diagnostics) > 0 {
			if !strings.Contains(p.Diagnostics[0].Message+p.Diagnostics[1].Message, "no variable \"name\"") {
				t.Errorf("the user of what changed: %+v", p.Diagnostics)
			}
			break
		}
	}
	if found := c.open("untitled:Untitled-1", head); len(found) != 0 {
		t.Errorf("a recipe that is no file: %+v", found)
	}
}

// TestSymbols: blocks with their labels, as a tree.
func TestSymbols(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	c.open(uri, head+"locals {\n  a = 1\n}\n\n"+body+"\nstage \"late\" {\n  directory \"d\" {\n    path = \"/srv/d\"\n  }\n}\n")
	var list []editor.DocumentSymbol
	c.call("textDocument/documentSymbol", at(uri, editor.Position{}), &list)
	var names []string
	var walk func(list []editor.DocumentSymbol, indent string)
	walk = func(list []editor.DocumentSymbol, indent string) {
		for _, s := range list {
			names = append(names, indent+s.Name)
			walk(s.Children, indent+" ")
		}
	}
	walk(list, "")
	want := []string{"demo", " debian", "name", "locals", " a", "settings", "demo.service", "demo.service", "late", " d"}
	if !slices.Equal(names, want) {
		t.Errorf("symbols %q, want %q", names, want)
	}
}

// TestFormatting lays out line by line, and leaves a broken text alone.
func TestFormatting(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text := "locals {\r\n a=1\r\n  bcd = 2\r\n}"
	c.open(uri, text)
	var edits []editor.TextEdit
	c.call("textDocument/formatting", `{"textDocument":{"uri":`+quoted(uri)+`},"options":{"tabSize":8}}`, &edits)
	if got := apply(t, text, edits); got != "locals {\r\n  a   = 1\r\n  bcd = 2\r\n}\r\n" {
		t.Errorf("formatted %q with %+v", got, edits)
	}
	c.edit(uri, editor.Range{}, "\n\n{")
	c.call("textDocument/formatting", at(uri, editor.Position{}), &edits)
	if len(edits) != 0 {
		t.Errorf("a broken text: %+v", edits)
	}
	other := uriIn(t.TempDir(), "recipe.hcl")
	text = "\n\n\nlocals {\n}\n\n\n\n"
	c.open(other, text)
	c.call("textDocument/formatting", at(other, editor.Position{}), &edits)
	if got := apply(t, text, edits); strings.TrimLeft(got, "\n") != "locals {\n}\n" {
		t.Errorf("formatted %q with %+v", got, edits)
	}
}

// TestColors: what stands where is told apart.
func TestColors(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text := "# note\nlocals {\n  a = upper(var.name) == \"😀x\" ? 1 : true\n}\ndirectory \"d\" {\n  path = <<EOT\n/a\n/b\nEOT\n}\n"
	c.open(uri, text)
	var tokens editor.SemanticTokens
	c.call("textDocument/semanticTokens/full", at(uri, editor.Position{}), &tokens)
	legend := []string{"keyword", "type", "property", "variable", "function", "string", "number", "comment", "operator", "namespace"}
	lines := strings.Split(text, "\n")
	var got []string
	line, column := 0, 0
	for i := 0; i+4 < len(tokens.Data); i += 5 {
		if tokens.Data[i] > 0 {
			column = 0
		}
		line, column = line+int(tokens.Data[i]), column+int(tokens.Data[i+1])
		from, to := len(utf8Prefix(lines[line], column)), len(utf8Prefix(lines[line], column+int(tokens.Data[i+2])))
		got = append(got, legend[tokens.Data[i+3]]+" "+lines[line][from:to])
	}
	want := []string{"comment # note", "keyword locals", "property a", "function upper", "namespace var", "variable name", "operator ==", "string 😀x",
		"operator ?", "number 1", "keyword true", "type directory", "string d", "property path", "string /a", "string /b"}
	if !slices.Equal(got, want) {
		t.Errorf("tokens\n%q, want\n%q", got, want)
	}
}

// utf8Prefix is the part of a line before a UTF-16 column.
func utf8Prefix(line string, column int) string {
	for i, r := range line {
		if column <= 0 {
			return line[:i]
		}
		if column--; r > 0xffff {
			column--
		}
	}
	return line
}

// TestActions: fixes are offered where they are, and all safe ones at once.
func TestActions(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text := head + "directory \"d\" {\n  path = \"/srv/${var.name}\"\n  mode = 0755\n}\n" + body
	c.open(uri, text)
	ask := func(line int, only string) []editor.CodeAction {
		var list []editor.CodeAction
		params, _ := json.Marshal(map[string]any{
			"textDocument": map[string]string{"uri": uri}, "context": map[string]any{"only": strings.Fields(only)},
			"range": editor.Range{Start: editor.Position{Line: line}, End: editor.Position{Line: line, Character: 50}},
		})
		c.call("textDocument/codeAction", string(params), &list)
		return list
	}
	line := strings.Count(head, "\n") + 2
	list := ask(line, "quickfix")
	if len(list) == 0 || list[0].Title != `Write "0755"` || !list[0].IsPreferred || list[0].Diagnostics[0].Code != "bare-mode" {
		t.Fatalf("actions %+v", list)
	}
	if got := apply(t, text, list[0].Edit.Changes[uri]); got != strings.Replace(text, "0755", `"0755"`, 1) {
		t.Errorf("the fix makes %s", got)
	}
	answer := list[1]
	if got := apply(t, text, answer.Edit.Changes[uri]); !strings.Contains(got, "  # hostler:ignore bare-mode why it is right here\n  mode = 0755\n") {
		t.Errorf("the answer makes %s", got)
	}
	list = ask(0, "source.fixAll")
	if len(list) != 1 || list[0].Kind != "source.fixAll.hostler" {
		t.Fatalf("fix all: %+v", list)
	}
	if got := apply(t, text, list[0].Edit.Changes[uri]); strings.Contains(got, "Restrat") || strings.Contains(got, "= 0755") {
		t.Errorf("fix all makes %s", got)
	}
	if list = ask(0, "refactor"); len(list) != 0 {
		t.Errorf("refactor: %+v", list)
	}
}

// TestExcludedAndNew: what the configuration excludes is left alone, and a recipe
// that is not saved yet has the files beside it.
func TestExcludedAndNew(t *testing.T) {
	dir := t.TempDir()
	bad := head + "directory \"d\" {\n  path = \"/srv/${var.name}\"\n  mode = 0755\n}\n"
	for name, text := range map[string]string{".hostler-lint.hcl": "exclude = [\"old/**\"]\n", "old/recipe.hcl": bad, "new/files/a.conf": "x\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t)
	old := uriIn(dir, "old/recipe.hcl")
	if found := c.open(old, bad); len(found) != 0 {
		t.Errorf("excluded: %+v", found)
	}
	var list []editor.CodeAction
	if c.call("textDocument/codeAction", at(old, editor.Position{}), &list); len(list) != 0 {
		t.Errorf("actions in what is excluded: %+v", list)
	}
	recipe := head + "write_file_if_changed \"a\" {\n  path   = \"/etc/demo/${var.name}\"\n  source = \"files/a.conf\"\n}\n"
	if found := c.open(uriIn(dir, "new/recipe.hcl"), recipe); len(found) != 0 {
		t.Errorf("a new recipe: %+v", found)
	}
	if found := c.open(uriIn(dir, "new/other.hcl"), recipe); len(found) != 1 || !strings.Contains(found[0].Message, "no such file") {
		t.Errorf("a new recipe of another name: %+v", found)
	}
}
