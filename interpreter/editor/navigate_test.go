package editor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/editor"
)

const named = head + `locals {
  file = "/etc/demo/${var.name}"
}

` + body + `
nspawn_machine "kube1" {
  rootfs {
    image = "oci-layout:/srv/image"
  }
  before_boot {
    write_file_if_changed "settings" {
      path    = "/etc/inner"
      content = "${local.file}\n"
    }
  }
  after_boot {
    restart_on_change "x.service" {
      watch = [write_file_if_changed.settings]
    }
  }
}

restart_on_change "late.service" {
  watch = [nspawn_machine.kube1.write_file_if_changed.settings, write_file_if_changed.settings]
}

output "root" {
  description = "Where it is"
  value       = nspawn_machine.kube1.root
}
`

// mark is a text with ‸ before the n-th occurrence of a word.
func mark(t *testing.T, text, word string, n int) string {
	t.Helper()
	at := 0
	for range n {
		i := strings.Index(text[at:], word)
		if i < 0 {
			t.Fatalf("%q is not there %d times", word, n)
		}
		at += i + 1
	}
	return text[:at-1] + "‸" + text[at-1:]
}

// TestHover: what is said at a word.
func TestHover(t *testing.T) {
	for _, test := range []struct {
		word string
		n    int
		says string
	}{
		{"recipe \"demo\"", 1, "which hosts it supports"},
		{"supports", 1, "kind of host"},
		{"version_id", 1, "constraint"},
		{"name\" {", 1, "What the host is called"},
		{"name)", 0, ""},
		{"name }", 1, "What the host is called"},
		{"file =", 1, "/etc/demo/"},
		{"write_file_if_changed \"settings\"", 1, "# write_file_if_changed"},
		{"content = \"${var", 1, "**content** (string)"},
		{"settings, sys", 1, "/etc/demo.json"},
		{"systemd_unit[", 1, "A systemd unit"},
		{"demo.service\"]", 1, "systemd_unit[\"demo.service\"]"},
		{"before_boot", 1, "before"},
		{"settings]\n    }", 1, "/etc/inner"},
		{"kube1.root", 1, "nspawn_machine.kube1"},
		{"root\n}", 1, "**root** (absolute path)"},
		{"fingerprint({", 1, "identity of an installation"},
		{"watch", 1, "**watch** (list of steps)"},
		{"stored", 0, ""},
	} {
		if test.n == 0 {
			continue
		}
		t.Run(test.word, func(t *testing.T) {
			c := start(t)
			uri := uriIn(t.TempDir(), "recipe.hcl")
			text, p := place(t, mark(t, named, test.word, test.n))
			c.open(uri, text)
			var h *editor.Hover
			c.call("textDocument/hover", at(uri, p), &h)
			if h == nil || !strings.Contains(h.Contents.Value, test.says) {
				t.Errorf("says %+v, want %q", h, test.says)
			}
		})
	}
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text, p := place(t, head+"locals {\n  a = host.os.ver‸sion_id\n  b = 12\n}\n")
	c.open(uri, text)
	var h *editor.Hover
	c.call("textDocument/hover", at(uri, p), &h)
	if h == nil || !strings.Contains(h.Contents.Value, "VERSION_ID") {
		t.Errorf("a fact: %+v", h)
	}
	p.Line++
	if c.call("textDocument/hover", at(uri, p), &h); h != nil {
		t.Errorf("a number: %+v", h)
	}
}

// TestDefinition: a name leads to its declaration, from inside a machine to the
// machine's own step first.
func TestDefinition(t *testing.T) {
	lineOf := func(word string, n int) int {
		marked := mark(t, named, word, n)
		return strings.Count(marked[:strings.Index(marked, "‸")], "\n")
	}
	for _, test := range []struct {
		word string
		n    int
		line int
	}{
		{"name }", 1, lineOf("variable \"name\"", 1)},
		{"name}\"\n}", 1, lineOf("variable \"name\"", 1)},
		{"file}", 1, lineOf("file =", 1)},
		{"settings, sys", 1, lineOf("\"settings\"", 1)},
		{"demo.service\"]", 1, lineOf("systemd_unit \"demo.service\"", 1)},
		{"settings]\n    }", 1, lineOf("\"settings\"", 2)},
		{"settings, write", 1, lineOf("\"settings\"", 2)},
		{"settings]\n}", 1, lineOf("\"settings\"", 1)},
		{"kube1.root", 1, lineOf("nspawn_machine \"kube1\"", 1)},
	} {
		t.Run(fmt.Sprint(test.word), func(t *testing.T) {
			c := start(t)
			uri := uriIn(t.TempDir(), "recipe.hcl")
			text, p := place(t, mark(t, named, test.word, test.n))
			c.open(uri, text)
			var list []editor.Location
			c.call("textDocument/definition", at(uri, p), &list)
			if len(list) != 1 || list[0].URI != uri || list[0].Range.Start.Line != test.line {
				t.Errorf("leads to %+v, want line %d", list, test.line)
			}
		})
	}
}

// TestDefinitionInFiles: the name of a file leads to it, a use block to the
// recipe, and an output to where that declares it.
func TestDefinitionInFiles(t *testing.T) {
	dir := t.TempDir()
	base := strings.Replace(head, "demo", "base", 1) + "output \"url\" {\n  value = \"x\"\n}\n"
	for name, text := range map[string]string{"recipe/files/a.conf": "x", "base/recipe.hcl": base} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recipe := head + "use \"base\" {\n  source = \"../base\"\n  inputs = { name = var.name }\n}\n" +
		"write_file_if_changed \"a\" {\n  path   = \"/etc/a\"\n  source = \"files/a.conf\"\n}\n" +
		"locals {\n  url = use.base.url\n  text = file(\"files/a.conf\")\n  gone = file(\"files/gone\")\n}\n"
	c := start(t)
	uri := uriIn(dir, "recipe/recipe.hcl")
	c.open(uri, recipe)
	line := strings.Count(base[:strings.Index(base, "output")], "\n")
	for word, want := range map[string]editor.Location{
		"../base":               {URI: uriIn(dir, "base/recipe.hcl")},
		"files/a.conf\"\n}":     {URI: uriIn(dir, "recipe/files/a.conf")},
		"files/a.conf\")":       {URI: uriIn(dir, "recipe/files/a.conf")},
		"url\n":                 {URI: uriIn(dir, "base/recipe.hcl"), Range: editor.Range{Start: editor.Position{Line: line, Character: 8}, End: editor.Position{Line: line, Character: 11}}},
		"files/gone":            {},
		"Demonstration, absent": {},
	} {
		if !strings.Contains(recipe, word) {
			continue
		}
		_, p := place(t, mark(t, recipe, word, 1))
		var list []editor.Location
		c.call("textDocument/definition", at(uri, p), &list)
		if want.URI == "" && len(list) == 0 {
			continue
		}
		if len(list) != 1 || list[0] != want {
			t.Errorf("%q leads to %+v, want %+v", word, list, want)
		}
	}
	var h *editor.Hover
	_, p := place(t, mark(t, recipe, "url\n", 1))
	if c.call("textDocument/hover", at(uri, p), &h); h == nil || !strings.Contains(h.Contents.Value, "output url") {
		t.Errorf("the output: %+v", h)
	}
}

// TestRename: everything that names a thing follows, and nothing else.
func TestRename(t *testing.T) {
	for _, test := range []struct {
		word    string
		n       int
		to      string
		changes [][2]string
		err     string
	}{
		{"name }", 1, "host_name", [][2]string{{"var.name", "var.host_name"}, {"variable \"name\"", "variable \"host_name\""}}, ""},
		{"file =", 1, "path", [][2]string{{"  file =", "  path ="}, {"local.file", "local.path"}}, ""},
		{"demo.service\"]", 1, "a.service", [][2]string{{"systemd_unit \"demo.service\"", "systemd_unit \"a.service\""}, {"systemd_unit[\"demo.service\"]", "systemd_unit[\"a.service\"]"}}, ""},
		{"settings]\n    }", 1, "a b", [][2]string{{"    write_file_if_changed \"settings\"", "    write_file_if_changed \"a b\""},
			{"[write_file_if_changed.settings]\n    }", "[write_file_if_changed[\"a b\"]]\n    }"}, {"kube1.write_file_if_changed.settings", "kube1.write_file_if_changed[\"a b\"]"}}, ""},
		{"name }", 1, "host name", nil, "is no name"},
		{"kube1.root", 1, "", nil, "one line"},
		{"language", 1, "x", nil, "no name here"},
	} {
		t.Run(test.word+" to "+test.to, func(t *testing.T) {
			c := start(t)
			uri := uriIn(t.TempDir(), "recipe.hcl")
			text, p := place(t, mark(t, named, test.word, test.n))
			c.open(uri, text)
			params := strings.TrimSuffix(at(uri, p), "}") + `,"newName":` + quoted(test.to) + `}`
			if test.err != "" {
				if m := c.ask("textDocument/rename", params); m.Error == nil || !strings.Contains(m.Error.Message, test.err) {
					t.Errorf("%+v, want %q", m, test.err)
				}
				return
			}
			var edit editor.WorkspaceEdit
			c.call("textDocument/rename", params, &edit)
			want := text
			for _, change := range test.changes {
				want = strings.ReplaceAll(want, change[0], change[1])
			}
			if got := apply(t, text, edit.Changes[uri]); got != want {
				t.Errorf("became\n%s\nwant\n%s", got, want)
			}
			var r *editor.Range
			if c.call("textDocument/prepareRename", at(uri, p), &r); r == nil || r.Start != p {
				t.Errorf("the name is at %+v, not %+v", r, p)
			}
		})
	}
}

// TestRenameTaken: a name that another thing has is refused.
func TestRenameTaken(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text, p := place(t, head+"locals {\n  ‸a = 1\n  b = local.a\n}\n")
	c.open(uri, text)
	m := c.ask("textDocument/rename", strings.TrimSuffix(at(uri, p), "}")+`,"newName":"b"}`)
	if m.Error == nil || !strings.Contains(m.Error.Message, `local "b"`) {
		t.Errorf("%+v", m)
	}
}

// TestReferences: with and without the declaration, and as highlights.
func TestReferences(t *testing.T) {
	c := start(t)
	uri := uriIn(t.TempDir(), "recipe.hcl")
	text, p := place(t, mark(t, named, "name }", 1))
	c.open(uri, text)
	for declaration, want := range map[bool]int{true: 5, false: 4} {
		var list []editor.Location
		c.call("textDocument/references", strings.TrimSuffix(at(uri, p), "}")+fmt.Sprintf(`,"context":{"includeDeclaration":%t}}`, declaration), &list)
		if len(list) != want {
			t.Errorf("%d references, want %d: %+v", len(list), want, list)
		}
	}
	var marks []editor.Highlight
	c.call("textDocument/documentHighlight", at(uri, p), &marks)
	if len(marks) != 5 || marks[0].Kind != 2 {
		t.Errorf("highlights %+v", marks)
	}
	if c.call("textDocument/documentHighlight", at(uri, editor.Position{}), &marks); len(marks) != 0 {
		t.Errorf("highlights of nothing: %+v", marks)
	}
}

// TestSignature: which call, and which of its parameters.
func TestSignature(t *testing.T) {
	for text, want := range map[string]string{
		"a = format(‸)":                      "format(format, args...) 0",
		"a = format(\"%s\", ‸)":              "format(format, args...) 1",
		"a = format(\"%s\", 1, 2, 3‸)":       "format(format, args...) 1",
		"a = format(\"%s\", upper(‸))":       "upper(str) 0",
		"a = format(\"%s\", upper(\"x\"), ‸": "format(format, args...) 1",
		"a = \"${trimprefix(\"a,b\", ‸)}\"":  "trimprefix(str, prefix) 1",
		"a = [for x in split(‸, y) : x]":     "split(separator, str) 0",
		"a = 1‸":                             "",
		"a = (1 + ‸)":                        "",
		"a = nonsense(‸)":                    "",
	} {
		c := start(t)
		uri := uriIn(t.TempDir(), "recipe.hcl")
		doc, p := place(t, head+"locals {\n  "+text+"\n}\n")
		c.open(uri, doc)
		var help *editor.SignatureHelp
		c.call("textDocument/signatureHelp", at(uri, p), &help)
		got := ""
		if help != nil {
			got = fmt.Sprintf("%s %d", help.Signatures[0].Label, help.ActiveParameter)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
