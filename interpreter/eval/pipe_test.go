package eval_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/eval"
)

// A pipe in the place of a recipe is refused; opening it would wait for ever.
func TestOpenPipe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pipe.hcl", "asset"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "recipe.hcl"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := eval.Open(filepath.Join(dir, "pipe.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := pipe.Main(); err == nil || !strings.Contains(err.Error(), "neither a file nor a directory") {
		t.Errorf("main file: %v", err)
	}
	if _, err := pipe.ReadFile("asset"); err == nil || !strings.Contains(err.Error(), "neither a file nor a directory") {
		t.Errorf("asset: %v", err)
	}
	if _, err := pipe.ReadFile("recipe.hcl"); err != nil {
		t.Errorf("plain file: %v", err)
	}
}

// A tree of tests is read as one of a recipe is.
func TestPlain(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := eval.Plain(os.DirFS(dir))
	if _, err := fs.ReadFile(tree, "pipe"); err == nil || !strings.Contains(err.Error(), "pipe is neither a file nor a directory") {
		t.Error(err)
	}
	if text, err := fs.ReadFile(tree, "file"); err != nil || string(text) != "x" {
		t.Errorf("%q %v", text, err)
	}
	if names, err := fs.Glob(tree, "*"); err != nil || len(names) != 2 {
		t.Errorf("%v %v", names, err)
	}
}
