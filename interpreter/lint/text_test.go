package lint_test

import (
	"strings"
	"testing"

	"hostler/interpreter/lint"
)

// TestTextPlaces holds the place of every word of a text to where it stands in
// the recipe or an asset.
func TestTextPlaces(t *testing.T) {
	long := "variable \"x\" {\n  type    = string\n  default = \"known\"\n}\nvariable \"y\" {\n  type = string\n}\nvariable \"z\" {\n  type      = string\n  sensitive = true\n}\n" +
		"locals {\n  text = <<-EOT\n    in local\n  EOT\n}\n"
	cases := []struct {
		name, content, want string
		word                string // in the text
		at                  string // what the range of the word reads in its file
		whole, secret       bool
	}{
		{"plain", `"one two"`, "one two", "two", "two", true, false},
		{"escapes", `"a\tb\n\"c\" é\u00e9 two\\x"`, "a\tb\n\"c\" éé two\\x", "two", "two", true, false},
		{"escape itself", `"a\tb"`, "a\tb", "\t", `\t`, true, false},
		{"dollar", `"a $${two} b"`, "a ${two} b", "two", "two", true, false},
		{"percent", `"a %%{two} b"`, "a %{two} b", "two", "two", true, false},
		{"heredoc", "<<EOT\nfirst\n  sec\\ond\nEOT", "first\n  sec\\ond\n", "sec\\ond", "sec\\ond", true, false},
		{"indented", "<<-EOT\n    first\n      second two\n    third\n  EOT", "first\n  second two\nthird\n", "two", "two", true, false},
		{"wide", "<<-EOT\n    日本 two\n  EOT", "日本 two\n", "two", "two", true, false},
		{"known part", `"a ${var.x} two"`, "a known two", "two", "two", true, false},
		{"known part itself", `"a ${var.x} two"`, "a known two", "known", "var.x", true, false},
		{"unknown part", `"a ${var.y} two"`, "a \uE000 two", "two", "two", false, false},
		{"secret part", `"a ${var.z} two"`, "a \uE000 two", "two", "two", false, true},
		{"local", `local.text`, "in local\n", "local", "local", true, false},
		{"local in text", `"${local.text}two"`, "in local\ntwo", "local", "local", true, false},
		{"function", `"${upper("two")} a"`, "TWO a", "TWO", `upper("two")`, true, false},
		{"asset", `file("files/a")`, "an asset\n", "asset", "asset", true, false},
		{"across", `"${var.x}one"`, "knownone", "known" + "one", "var.x}one", true, false},
		{"nothing", `""`, "", "", `""`, true, false},
	}
	for _, c := range cases {
		f := files{"recipe.hcl": long + "write_file_if_changed \"a\" {\n  path    = \"/etc/a\"\n  mode    = \"0600\"\n  content = " + c.content + "\n}\n", "files/a": "an asset\n"}
		look(t, f, func(p *lint.Pass) {
			text, ok := p.TextOf(p.Steps("write_file_if_changed")[0].Arguments, "content")
			if !ok || text.Text != c.want || text.Whole != c.whole || text.Secret != c.secret {
				t.Errorf("%s: %q, whole %v, secret %v", c.name, text.Text, text.Whole, text.Secret)
				return
			}
			from := strings.Index(text.Text, c.word)
			r := text.Range(from, from+len(c.word))
			src := string(p.File.Bytes)
			if r.Filename == "files/a" {
				src = f["files/a"]
			}
			if got := src[r.Start.Byte:r.End.Byte]; got != c.at {
				t.Errorf("%s: the place of %q reads %q", c.name, c.word, got)
			}
			if line := 1 + strings.Count(src[:r.Start.Byte], "\n"); line != r.Start.Line {
				t.Errorf("%s: line %d, want %d", c.name, r.Start.Line, line)
			}
		})
	}
}

// TestColumns: columns count what a reader sees as one character.
func TestColumns(t *testing.T) {
	f := files{"recipe.hcl": "write_file_if_changed \"a\" {\n  path    = \"/etc/a\"\n  content = \"日本 two\"\n}\n"}
	look(t, f, func(p *lint.Pass) {
		text, _ := p.TextOf(p.Steps()[0].Arguments, "content")
		from := strings.Index(text.Text, "two")
		if r := text.Range(from, from+3); r.Start.Column != 17 || r.End.Column != 20 {
			t.Errorf("columns %d to %d", r.Start.Column, r.End.Column)
		}
	})
}

func TestTextThatIsNone(t *testing.T) {
	f := files{"recipe.hcl": "write_file_if_changed \"a\" {\n  path   = \"/etc/a\"\n  source = \"files/none\"\n}\n"}
	res := run(f, &lint.Rule{Name: "look", Check: func(p *lint.Pass) {
		if _, ok := p.TextOf(p.Steps()[0].Arguments, "source"); ok {
			t.Error("an asset that is not there has no text")
		}
		if _, ok := p.TextOf(p.Steps()[0].Arguments, "content"); ok {
			t.Error("what is not written has no text")
		}
	}})
	if len(res.Findings) == 0 || res.Findings[0].Rule != "validate" {
		t.Errorf("%+v", res.Findings)
	}
}

// TestEachInstance: a text that depends on each is that of its instance.
func TestEachInstance(t *testing.T) {
	f := files{"recipe.hcl": "write_file_if_changed \"a\" {\n  for_each = [\"x\", \"y\"]\n  path     = \"/etc/${each.key}\"\n  content  = \"I am ${each.key}\"\n}\n"}
	look(t, f, func(p *lint.Pass) {
		var got []string
		for _, s := range p.Steps() {
			text, _ := p.TextOf(s.Arguments, "content")
			got = append(got, s.Address+" "+text.Text)
		}
		if want := `write_file_if_changed.a["x"] I am x, write_file_if_changed.a["y"] I am y`; strings.Join(got, ", ") != want {
			t.Errorf("%q", got)
		}
	})
}
