package lint_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

// replacing replaces every occurrence of a word; with a meaning that changes or
// not.
func replacing(old, with string, changes bool) *lint.Rule {
	r := &lint.Rule{Name: "replace", Summary: "Word to replace", Profile: lint.Basic, Fixes: true}
	r.Check = func(p *lint.Pass) {
		text := string(p.File.Bytes)
		for at := 0; ; {
			n := strings.Index(text[at:], old)
			if n < 0 {
				return
			}
			rng := p.Span(at+n, at+n+len(old))
			f := lint.Finding{Range: rng, Detail: "Here is " + old + "."}
			p.Report(f.With(lint.Fix{Message: "write " + with, Edits: []lint.Edit{{Range: rng, Text: with}}, Changes: changes}))
			at += n + 1
		}
	}
	return r
}

func fix(t *testing.T, text string, rule *lint.Rule) lint.Fixed {
	t.Helper()
	fixed, err := linter(rule).Fix(lint.Input{Source: files{"recipe.hcl": text}.source(), Config: lint.DefaultConfig([]*lint.Rule{rule})})
	if err != nil {
		t.Fatal(err)
	}
	return fixed
}

func TestFix(t *testing.T) {
	const two = "directory \"a\" {\n  path = \"/OLD/a\"\n}\n\ndirectory \"b\" {\n  path = \"/OLD/b\" # OLD\n}\n"
	cases := []struct {
		name, text string
		rule       *lint.Rule
		want       string // below the preamble; "" for unchanged
		applied    int
		reason     string
	}{
		{"changes what it names", "directory \"a\" {\n  path = \"/OLD\"\n}\n", replacing("OLD", "new", true), "directory \"a\" {\n  path = \"/new\"\n}\n", 1, ""},
		{"several", strings.ReplaceAll(two, " # OLD", ""), replacing("OLD", "new", true), strings.ReplaceAll(strings.ReplaceAll(two, " # OLD", ""), "OLD", "new"), 2, ""},
		{"a comment", "directory \"a\" {\n  path = \"/a\" # OLD\n}\n", replacing("OLD", "new", false), "directory \"a\" {\n  path = \"/a\" # new\n}\n", 1, ""},
		{"says that nothing changes and is wrong", "directory \"a\" {\n  path = \"/OLD\"\n}\n", replacing("OLD", "new", false), "", 0, "change the value of directory.a.path"},
		{"no longer parses", "directory \"a\" {\n  path = \"/OLD\"\n}\n", replacing(`OLD"`, "new", true), "", 0, "no longer parse"},
		{"makes a fault", "directory \"a\" {\n  path = \"/OLD\"\n}\n", replacing("/OLD", "new", true), "", 0, "make a fault"},
		{"changes the block around it", "directory \"a\" {\n  path = \"/OLD\"\n}\n", replacing("\"/OLD\"\n}", "\"/new\"\n  mode = \"0700\"\n}", true), "", 0, "change"},
		{"moves another block", "# OLD\ndirectory \"a\" {\n  path = \"/a\"\n}\n", replacing("# OLD\ndirectory \"a\" {", "directory \"z\" {\n  path = \"/z\"\n}\n\ndirectory \"a\" {", true), "", 0, "directory z"},
		{"the same value otherwise", "locals {\n  x = \"/a\"\n}\n\ndirectory \"a\" {\n  path = \"${local.x}\"\n}\n", replacing(`"${local.x}"`, "local.x", false), "locals {\n  x = \"/a\"\n}\n\ndirectory \"a\" {\n  path = local.x\n}\n", 1, ""},
	}
	for _, c := range cases {
		fixed := fix(t, c.text, c.rule)
		want := c.want
		if want == "" {
			want = c.text
		}
		if got := string(fixed.After); got != preamble+want {
			t.Errorf("%s:\n%s", c.name, strings.TrimPrefix(got, preamble))
		}
		if len(fixed.Applied) != c.applied || (len(fixed.Refused) > 0) != (c.reason != "") {
			t.Errorf("%s: applied %d, refused %v", c.name, len(fixed.Applied), fixed.Refused)
			continue
		}
		if c.reason != "" && !strings.Contains(fixed.Refused[0].Reason, c.reason) {
			t.Errorf("%s: refused because %q", c.name, fixed.Refused[0].Reason)
		}
	}
}

// TestFixOneOfTwo: a fix that is refused keeps no other from being made.
func TestFixOneOfTwo(t *testing.T) {
	text := "# OLD\ndirectory \"a\" {\n  path = \"/OLD\"\n}\n"
	fixed := fix(t, text, replacing("OLD", "new", false))
	if got := strings.TrimPrefix(string(fixed.After), preamble); got != strings.Replace(text, "OLD", "new", 1) || len(fixed.Refused) == 0 {
		t.Errorf("%s\n%+v", got, fixed.Refused)
	}
}

// TestFixKeepsLineEnds: a file keeps its line ends and its mark.
func TestFixKeepsLineEnds(t *testing.T) {
	text := "\xef\xbb\xbf" + strings.ReplaceAll(preamble+"directory \"a\" {\n  path = \"/OLD\"\n}\n", "\n", "\r\n")
	rule := replacing("OLD", "new", true)
	in := lint.Input{Source: eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: []byte(text)}}, "."), Config: lint.DefaultConfig([]*lint.Rule{rule})}
	fixed, err := linter(rule).Fix(in)
	if err != nil || string(fixed.After) != strings.Replace(text, "OLD", "new", 1) {
		t.Errorf("%q, %v", fixed.After, err)
	}
	broken := lint.Input{Source: eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: []byte("a = OLD {")}}, "."), Config: in.Config}
	if fixed, err := linter(rule).Fix(broken); err != nil || string(fixed.After) != "a = OLD {" || len(fixed.Applied) > 0 {
		t.Errorf("a text that does not parse was fixed: %+v, %v", fixed, err)
	}
	if _, err := linter(rule).Fix(lint.Input{Source: eval.Tree("", fstest.MapFS{}, ".")}); err == nil {
		t.Error("a recipe that is not there was fixed")
	}
}
