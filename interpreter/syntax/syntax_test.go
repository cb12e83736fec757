package syntax

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"
)

func TestMegabytesOfNestingAreOneDiagnostic(t *testing.T) {
	for _, c := range []struct {
		unit, summary string
		head          string
	}{
		{"(", "Nested too deeply", "a="},
		{"[", "Nested too deeply", "a="},
		{"\"${", "Nested too deeply", "a="},
		{"{a=", "Nested too deeply", "a="},
		{"b {\n", "Nested too deeply", ""},
		{"%{if true}", "Nested too deeply", "a=\""},
		{"%{endif}${\"", "Nested too deeply", "a=\""},
		{"f(", "Nested too deeply", "a="},
		{"x[", "Nested too deeply", "a="},
		{"(]", "Nested too deeply", "a="},
		{"<<E\n${", "Nested too deeply", "a="},
		{"!", "Expression too long", "a="},
		{"-", "Expression too long", "a="},
		{"1+", "Expression too long", "a="},
		{"a?a:", "Expression too long", "a="},
		{"[*]", "Expression too long", "a=b"},
		{".*", "Expression too long", "a=b"},
		{"[0]", "Expression too long", "a=b"},
		{"!\n", "Expression too long", "a={\nfor k in "},
		{"!\n", "Expression too long", "a=("},
	} {
		src := c.head + strings.Repeat(c.unit, (MaxFileSize-len(c.head))/len(c.unit))
		start := time.Now()
		file, diags := Parse("x.hcl", []byte(src))
		if len(diags) != 1 || diags[0].Summary != c.summary {
			t.Errorf("%q: %d diagnostics, first %v", c.unit, len(diags), diags[0])
			continue
		}
		rng := *diags[0].Subject
		if rng.Start.Byte > 20*MaxOperators || rng.End.Byte-rng.Start.Byte > 4 {
			t.Errorf("%q: range %v is not tight", c.unit, rng)
		}
		if len(file.Body.Attributes) != 0 {
			t.Errorf("%q was parsed", c.unit)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q took %v", c.unit, d)
		}
	}
}

// Texts at the limits go through the parser and the evaluator.
func TestLimitsAreSafe(t *testing.T) {
	for _, src := range []string{
		"a=" + strings.Repeat("(", MaxNesting-1) + "1" + strings.Repeat(")", MaxNesting-1) + "\n",
		"a=" + strings.Repeat("!", MaxOperators-1) + "true\n",
		"a=" + strings.Repeat("1+", MaxOperators-1) + "1\n",
		"a=" + strings.Repeat("true?1:", MaxOperators/2-1) + "1\n",
		strings.Repeat("a=[{b=1+1+1},2,3]\n b {\n", 190) + strings.Repeat("}\n", 190),
		"a = {\n" + strings.Repeat("x-1 = 1 + 1\n", 2000) + "}\n",
		"a = [\n" + strings.Repeat("1 + 1,\n", 2000) + "]\n",
		"# c\n" + strings.Repeat("a = !!1 // x\n", 1),
	} {
		file, diags := Parse("x.hcl", []byte(src))
		if diags.HasErrors() {
			t.Errorf("%.30q…: %v", src, diags)
			continue
		}
		for _, attr := range Attributes(file.Body) {
			attr.Expr.Value(nil)
		}
	}
}

func TestTooLarge(t *testing.T) {
	src := bytes.Repeat([]byte("#"), MaxFileSize)
	if _, diags := Parse("x.hcl", src); diags.HasErrors() {
		t.Errorf("a file of the greatest size: %v", diags)
	}
	file, diags := Parse("x.hcl", append(src, '#'))
	if len(diags) != 1 || diags[0].Summary != "File too large" || !strings.Contains(diags[0].Detail, "more than 1048576 bytes") {
		t.Errorf("got %v", diags)
	}
	if file.Bytes != nil || file.Body == nil {
		t.Errorf("file = %+v", file)
	}
}

func TestManyFaultsAreCapped(t *testing.T) {
	for _, unit := range []string{"a = )\n", "a = €\n", "€£", "a = 'x'\n", "a = 1x\n"} {
		src := strings.Repeat(unit, 20000)
		start := time.Now()
		_, diags := Parse("x.hcl", []byte(src))
		if len(diags) == 0 || len(diags) > maxFaults+1 {
			t.Errorf("%q: %d diagnostics", unit, len(diags))
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q took %v", unit, d)
		}
	}
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "a%d = )\n", i)
	}
	_, diags := Parse("x.hcl", []byte(b.String()))
	if last := diags[len(diags)-1]; last.Summary != "More faults" || !strings.HasPrefix(last.Detail, "10 more") {
		t.Errorf("last is %v", last)
	}
}

func value(t *testing.T, src, name string) string {
	t.Helper()
	file, diags := Parse("x.hcl", []byte(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := file.Body.Attributes[name].Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return v.AsString()
}

func TestC01BlanksAfterCloserAreAccepted(t *testing.T) {
	if got := value(t, "a = <<EOF\nx\nEOF  \n", "a"); got != "x\n" {
		t.Errorf("got %q", got)
	}
}

func TestC03LineEndsDoNotChangeValuesOrPositions(t *testing.T) {
	lf := "a = <<EOF\n#!/bin/sh\nexit\nEOF\nb = <<-X\n  y\n  X\nc = 1\n"
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	for _, name := range []string{"a", "b"} {
		if x, y := value(t, lf, name), value(t, crlf, name); x != y || strings.Contains(y, "\r") {
			t.Errorf("%s: %q and %q", name, x, y)
		}
	}
	one, _ := Parse("x.hcl", []byte(lf))
	two, _ := Parse("x.hcl", []byte(crlf))
	if !bytes.Equal(one.Bytes, two.Bytes) {
		t.Errorf("the texts differ: %q", two.Bytes)
	}
	if a, b := one.Body.Attributes["c"].NameRange, two.Body.Attributes["c"].NameRange; a != b || b.Start.Line != 8 {
		t.Errorf("ranges %v and %v", a, b)
	}
}

func TestC04WhatShellsShareComesThrough(t *testing.T) {
	got := value(t, "a = <<EOF\necho $${HOME} $(id) %i %%i $x 100%\nEOF\n", "a")
	if got != "echo ${HOME} $(id) %i %%i $x 100%\n" {
		t.Errorf("got %q", got)
	}
}

func TestC07MarkDoesNotShiftColumns(t *testing.T) {
	file, diags := Parse("x.hcl", []byte("\xef\xbb\xbfabc = 1"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := hcl.Range{Filename: "x.hcl", Start: hcl.Pos{Line: 1, Column: 1, Byte: 0}, End: hcl.Pos{Line: 1, Column: 4, Byte: 3}}
	if got := file.Body.Attributes["abc"].NameRange; got != want {
		t.Errorf("range %v", got)
	}
}

func TestC09DoubledBackslash(t *testing.T) {
	if got := value(t, `a = "mnt-data\\x2ddisk.mount"`, "a"); got != `mnt-data\x2ddisk.mount` {
		t.Errorf("got %q", got)
	}
}

func TestAttributesInOrder(t *testing.T) {
	file, _ := Parse("x.hcl", []byte("z = 1\nb {\n}\na = 2\nm = 3\n"))
	var names []string
	for _, a := range Attributes(file.Body) {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff([]string{"z", "a", "m"}, names); diff != "" {
		t.Error(diff)
	}
}

// A broken text still gives what can be understood.
func TestBodyOfBrokenText(t *testing.T) {
	file, diags := Parse("x.hcl", []byte("a = 'x'\nstage \"one\" {\n  b = 2\n}\n"))
	if len(diags) != 1 {
		t.Errorf("got %v", diags)
	}
	if len(file.Body.Blocks) != 1 || file.Body.Blocks[0].Labels[0] != "one" {
		t.Errorf("blocks %+v", file.Body.Blocks)
	}
}

func TestParseExpression(t *testing.T) {
	expr, diags := ParseExpression("--var x", []byte(`["a", 1 + 1]`))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, _ := expr.Value(nil)
	if !v.RawEquals(cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.NumberIntVal(2)})) {
		t.Errorf("got %#v", v)
	}
	for src, want := range map[string]string{
		strings.Repeat("(", 300): "Nested too deeply",
		"a\x00":                  "NUL byte in file",
		"1 2":                    "Extra characters after expression",
	} {
		if _, diags := ParseExpression("x", []byte(src)); !diags.HasErrors() || diags[0].Summary != want {
			t.Errorf("%.10q: %v", src, diags)
		}
	}
}

func TestParseTemplate(t *testing.T) {
	expr, diags := ParseTemplate("x", []byte("\xef\xbb\xbfa ${b}\r\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, _ := expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"b": cty.StringVal("c")}})
	if got := v.AsString(); got != "a c\r\n" {
		t.Errorf("got %q", got)
	}
	for src, want := range map[string]string{
		strings.Repeat("%{if true}", 300): "Nested too deeply",
		"\xff":                            "Invalid UTF-8",
	} {
		if _, diags := ParseTemplate("x", []byte(src)); !diags.HasErrors() || diags[0].Summary != want {
			t.Errorf("%.10q: %v", src, diags)
		}
	}
}

func TestTemplateHint(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"a = <<EOF\necho ${HOME}\nEOF\n", "HOME", "$${HOME}"},
		{`a = "${HOME}/x"`, "HOME", "$${HOME}"},
		{`a = "${X-d}"`, "X-d", "$${X-d}"},
		{`a = "${X/y/z}"`, "X", "$${X/y/z}"},
		{`a = "${!X}"`, "X", "$${!X}"},
		{`a = "${X[0]}"`, "X", "$${X[0]}"},
		{`a = "$${HOME} ${foo}"`, "HOME", ""},
		{`a = HOME`, "HOME", ""},
		{`a = "${HOME + 1}"`, "HOME", ""},
		{`a = "${f(HOME)}"`, "HOME", ""},
		{`a = "${HOME.x}"`, "HOME", ""},
		{"a = \"${HOME\n}\"", "HOME", ""},
	} {
		file, _ := Parse("x.hcl", []byte(c.text))
		at := strings.Index(c.text, c.name)
		rng := hcl.Range{Start: hcl.Pos{Byte: at}, End: hcl.Pos{Byte: at + len(c.name)}}
		got := TemplateHint(file, rng, c.name)
		if (c.want == "") != (got == "") || !strings.Contains(got, "double the dollar sign: "+c.want) && c.want != "" {
			t.Errorf("%s: %q", c.text, got)
		}
	}
	if TemplateHint(nil, hcl.Range{}, "x") != "" || TemplateHint(&File{}, hcl.Range{Start: hcl.Pos{Byte: 9}, End: hcl.Pos{Byte: 12}}, "x") != "" {
		t.Error("a hint without a text")
	}
}

func TestSuggest(t *testing.T) {
	types := []string{"unit", "write", "write_file_if_changed", "systemd_unit", "nspawn_machine", "absent", "directory"}
	for given, want := range map[string]string{
		"writ":                   "write",
		"wriet":                  "write",
		"write-file-if-changed":  "write_file_if_changed",
		"systemd_unti":           "systemd_unit",
		"Directory":              "directory",
		"nspawn":                 "nspawn_machine",
		"dir":                    "directory",
		"banana":                 "",
		"x":                      "",
		"":                       "",
		"unit":                   "",
		strings.Repeat("w", 500): "",
	} {
		if got := Suggest(given, types); got != want {
			t.Errorf("%.20q: got %q, want %q", given, got, want)
		}
	}
	for range 20 { // the order of candidates does not matter
		c := []string{"bat", "cat", "hat", "rat"}
		rand.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		if got := Suggest("mat", c); got != "bat" {
			t.Fatalf("got %q of %v", got, c)
		}
	}
	if got := Suggest("abc", []string{"abcdef", "abcxyz"}); got != "" {
		t.Errorf("an ambiguous beginning gives %q", got)
	}
}

func TestFormat(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/format/format.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], archive.Files[i+1]
		t.Run(in.Name, func(t *testing.T) {
			got, diags := Format(in.Name, in.Data)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if diff := cmp.Diff(string(want.Data), string(got)); diff != "" {
				t.Error(diff)
			}
			again, _ := Format(in.Name, got)
			if !bytes.Equal(again, got) {
				t.Errorf("a second time: %s", again)
			}
		})
	}
}

func TestFormatEdges(t *testing.T) {
	for src, want := range map[string]string{
		"":                       "",
		"\n \n":                  "",
		"a=1":                    "a = 1\n",
		"a = 1\r\n\r\n\r\n":      "a = 1\n",
		"\xef\xbb\xbfa = 1\n":    "a = 1\n",
		"a = <<E\r\n  x \r\nE\n": "a = <<E\n  x \nE\n",
	} {
		got, diags := Format("x.hcl", []byte(src))
		if diags.HasErrors() || string(got) != want {
			t.Errorf("%q: %q, %v", src, got, diags)
		}
	}
	if got, diags := Format("x.hcl", []byte("a = )\n")); got != nil || !diags.HasErrors() {
		t.Errorf("broken text: %q, %v", got, diags)
	}
}
