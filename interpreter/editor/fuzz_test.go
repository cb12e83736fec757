package editor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"hostler/builtins"
	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/syntax"
)

func prepared() *Service {
	s := &Service{
		Linter: &lint.Linter{Rules: rules.All(), Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}},
		Block:  func(t *block.Type) string { return t.Doc.Text },
	}
	s.prepare()
	return s
}

// recipes are texts to start from.
func recipes(f *testing.F) {
	for _, pattern := range []string{"../../recipes/*/*/*/recipe.hcl", "../../examples/*/recipe.hcl", "../syntax/testdata/*.txtar"} {
		names, _ := filepath.Glob(pattern)
		if len(names) == 0 {
			f.Fatalf("no %s", pattern)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), uint(len(text)/2), uint(10), "}")
		}
	}
	f.Add("\xef\xbb\xbfrecipe \"a\" {\r\n  x = \"😀${var.", uint(20), uint(0), "\r")
	f.Add("a = [\"${\"%{ if <<EOT\n", uint(3), uint(2), "\"")
}

// FuzzBroken: whatever is written and wherever the cursor stands, nothing
// panics, what is answered lies in the document, and an edit makes of a text
// what it makes of it as a whole.
func FuzzBroken(f *testing.F) {
	recipes(f)
	f.Fuzz(func(t *testing.T, raw string, at, size uint, insert string) {
		s := prepared()
		raw, insert = strings.ToValidUTF8(raw, "?"), strings.ToValidUTF8(insert, "?")
		d := newDocument(s.grammar, "file:///nowhere/recipe.hcl", 1, newText(raw))
		s.documents.put(d)
		checkText(t, d.text)
		from := int(at % uint(len(raw)+1))
		for from > 0 && from < len(raw) && !utf8.RuneStart(raw[from]) {
			from--
		}
		to := min(len(raw), from+int(size%64))
		for to < len(raw) && !utf8.RuneStart(raw[to]) {
			to++
		}
		checkEdit(t, d.text, from, to, insert)
		everything(t, s, d, d.offset(d.rawPosition(from)))
		s.diagnostics(d, s.check(d))
	})
}

// checkText holds a text to the parser's form of it, and positions to being
// those of offsets.
func checkText(t *testing.T, x *text) {
	t.Helper()
	if file, _ := syntax.Parse("x.hcl", []byte(x.raw)); file.Bytes != nil && string(file.Bytes) != string(x.clean) {
		t.Fatalf("clean is %q, and %q is parsed", x.clean, file.Bytes)
	}
	for i := range x.clean {
		if !utf8.RuneStart(x.clean[i]) || x.toRaw(i) >= len(x.raw) || strings.HasPrefix(x.raw, "\xef\xbb\xbf") && i == 0 {
			continue
		}
		if got := x.offset(x.position(i)); got != i && x.raw[x.toRaw(i)] != '\r' && !strings.HasSuffix(x.raw[:x.toRaw(i)], "\r") {
			t.Fatalf("offset %d of %q is at %+v, which is offset %d", i, x.raw, x.position(i), got)
		}
	}
}

func checkEdit(t *testing.T, x *text, from, to int, insert string) {
	t.Helper()
	for _, end := range []int{from, to} {
		if x.rawOffset(x.rawPosition(end)) != end { // between CR and LF nothing can be edited
			return
		}
	}
	r := Range{x.rawPosition(from), x.rawPosition(to)}
	want := x.raw[:from] + insert + x.raw[to:]
	if got := x.changed([]Change{{Range: &r, Text: insert}}); got.raw != want {
		t.Fatalf("edit of %q at %+v with %q made %q, want %q", x.raw, r, insert, got.raw, want)
	}
	if got := x.changed([]Change{{Text: "x"}, {Range: &Range{End: Position{0, 1}}, Text: insert}}); got.raw != insert {
		t.Fatalf("made %q, want %q", got.raw, insert)
	}
}

// everything asks everything about a place.
func everything(t *testing.T, s *Service, d *document, at int) {
	t.Helper()
	end := d.rawPosition(len(d.raw))
	inside := func(r Range) {
		t.Helper()
		if r.End.Line > end.Line || r.Start.Line > r.End.Line || r.Start.Line == r.End.Line && r.Start.Character > r.End.Character {
			t.Fatalf("%+v is no range of a document that ends at %+v", r, end)
		}
	}
	for _, item := range s.completion(d, at, true).Items {
		inside(item.TextEdit.Range)
	}
	if h := s.hover(d, at); h != nil {
		inside(h.Range)
	}
	for _, l := range append(s.definition(d, at), s.references(d, at, true)...) {
		if l.URI == d.uri {
			inside(l.Range)
		}
	}
	if edit, err := s.rename(d, at, "other name"); err == nil {
		for _, e := range edit.Changes[d.uri] {
			inside(e.Range)
		}
	}
	for _, e := range s.format(d) {
		inside(e.Range)
	}
	var symbols func(list []DocumentSymbol)
	symbols = func(list []DocumentSymbol) {
		for _, sym := range list {
			inside(sym.Range)
			inside(sym.SelectionRange)
			if sym.Name == "" {
				t.Fatal("a symbol without a name")
			}
			symbols(sym.Children)
		}
	}
	symbols(s.symbols(d))
	s.signature(d, at)
	s.highlights(d, at)
	if n := len(s.colors(d).Data); n%5 != 0 {
		t.Fatalf("%d numbers of tokens", n)
	}
	for _, a := range s.actions(context.Background(), d, span{at, at}, nil) {
		for _, e := range a.Edit.Changes[d.uri] {
			inside(e.Range)
		}
	}
}

// FuzzParams: parameters of any form are answered.
func FuzzParams(f *testing.F) {
	f.Add("textDocument/hover", []byte(`{"textDocument":{"uri":"file:///x.hcl"},"position":{"line":-1,"character":4294967296}}`))
	f.Add("textDocument/didChange", []byte(`{"textDocument":{"uri":"file:///x.hcl"},"contentChanges":[{"range":{"start":{"line":9,"character":-9},"end":{"line":-1}},"text":"\ud800"}]}`))
	f.Add("textDocument/didOpen", []byte(`{"textDocument":{"uri":"::","text":"recipe \"a\" {"}}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if !json.Valid(params) {
			return
		}
		s := prepared()
		s.state.Store(stateRunning)
		s.Log = func(text string) {
			if strings.Contains(text, "goroutine") {
				t.Fatal(text)
			}
		}
		s.documents.put(newDocument(s.grammar, "file:///x.hcl", 1, newText("recipe \"a\" {\n}\n")))
		s.Notify(method, params)
		if _, err := s.Begin(method, params)(context.Background()); err != nil && err.Error() == "" {
			t.Fatal("an error without a word")
		}
	})
}
