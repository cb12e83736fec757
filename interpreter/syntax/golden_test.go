package syntax

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// TestDiagnostics parses each file of testdata/*.txtar. The file after it, of
// the same name with the ending .want, holds the diagnostics expected. In
// files that end in .quoted every line is a Go string literal, for bytes that
// cannot be seen.
func TestDiagnostics(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, archive)
	}
}

func golden(t *testing.T, name string, archive *txtar.Archive) {
	var out []txtar.File
	for i, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".want") {
			continue
		}
		want := ""
		if i+1 < len(archive.Files) && archive.Files[i+1].Name == file.Name+".want" {
			want = string(archive.Files[i+1].Data)
		}
		t.Run(filepath.Base(name)+"/"+file.Name, func(t *testing.T) {
			got := diagnose(t, file)
			if got != want && !*update {
				t.Errorf("diagnostics\n%swant\n%s", got, want)
			}
			out = append(out, file, txtar.File{Name: file.Name + ".want", Data: []byte(got)})
		})
	}
	if *update {
		archive.Files = out
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func diagnose(t *testing.T, in txtar.File) string {
	name, src := in.Name, in.Data
	if strings.HasSuffix(name, ".quoted") {
		name, src = strings.TrimSuffix(name, ".quoted"), unquote(t, src)
	}
	file, diags := Parse(name, src)
	if file == nil || file.Body == nil {
		t.Fatal("no file or body")
	}
	if !diags.HasErrors() {
		diags = append(diags, DuplicateKeys(file)...)
	}
	var b strings.Builder
	for _, d := range diags {
		if d.Subject.Filename != name {
			t.Errorf("subject in %q", d.Subject.Filename)
		}
		fmt.Fprintf(&b, "%s %s\n    %s\n", place(*d.Subject), d.Summary, strings.ReplaceAll(d.Detail, "\n", "\n    "))
	}
	return b.String()
}

func place(r hcl.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
}

func unquote(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(data)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		b.WriteString(s)
	}
	return b.Bytes()
}
