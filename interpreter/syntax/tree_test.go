package syntax

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// everyText visits all HCL of the tree, that in archives too.
func everyText(t testing.TB, visit func(name string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2:
			return fs.SkipDir
		case d.IsDir() || ext != ".hcl" && ext != ".txtar":
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if ext == ".hcl" {
			visit(name, data)
			return nil
		}
		for _, f := range txtar.Parse(data).Files {
			if filepath.Ext(f.Name) == ".hcl" {
				visit(name+": "+f.Name, f.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFormatTree: what is formatted stays as it is, and means what it meant, for
// everything in the tree.
func TestFormatTree(t *testing.T) {
	texts := 0
	everyText(t, func(name string, src []byte) {
		once, diags := Format(name, src)
		if diags.HasErrors() {
			return // tests of faults have it
		}
		texts++
		twice, diags := Format(name, once)
		if diags.HasErrors() || !bytes.Equal(once, twice) {
			t.Errorf("%s: formatted twice it is another text (%v):\n%s\n--- and then\n%s", name, diags, once, twice)
		}
	})
	if texts < 150 {
		t.Errorf("only %d texts", texts)
	}
}
