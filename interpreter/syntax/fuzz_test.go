package syntax

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/txtar"
)

// seeds adds every text of the test data, whole and cut at places.
func seeds(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range append(archives, "testdata/format/format.txtar") {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
			f.Add(file.Data[:len(file.Data)/2])
			f.Add(bytes.ReplaceAll(file.Data, []byte("\n"), []byte("\r\n")))
		}
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := Parse("x.hcl", src)
		if file == nil || file.Body == nil {
			t.Fatal("no file")
		}
		last := -1
		for _, d := range diags {
			if d.Subject == nil || d.Detail == "" || d.Severity != hcl.DiagError {
				t.Fatalf("diagnostic %+v", d)
			}
			if d.Subject.Start.Byte < last {
				t.Fatalf("%v is out of order", d)
			}
			last = d.Subject.Start.Byte
		}
		if file.Bytes == nil || len(diags) > 0 && strings.HasPrefix(diags[0].Summary, "Nested") {
			return
		}
		if _, theirs := hclsyntax.ParseConfig(file.Bytes, "x.hcl", hcl.InitialPos); theirs.HasErrors() && !diags.HasErrors() {
			t.Fatalf("not reported: %v", theirs)
		}
		DuplicateKeys(file)
	})
}

func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		once, diags := Format("x.hcl", src)
		if diags.HasErrors() {
			return
		}
		twice, diags := Format("x.hcl", once)
		if diags.HasErrors() || !bytes.Equal(once, twice) {
			t.Fatalf("not idempotent: %q, then %q %v", once, twice, diags)
		}
		before, _ := Parse("x.hcl", src)
		after, _ := Parse("x.hcl", once)
		if a, b := words(before.Bytes), words(after.Bytes); a != b {
			t.Fatalf("meaning changed: %s, then %s", a, b)
		}
	})
}

// words is the token stream without newlines at its end.
func words(text []byte) string {
	var b strings.Builder
	tokens, _ := hclsyntax.LexConfig(bytes.TrimRight(text, "\n \t"), "", hcl.InitialPos)
	for _, tok := range tokens {
		fmt.Fprintf(&b, "%s %q\n", tok.Type, tok.Bytes)
	}
	return b.String()
}
