package eval_test

import (
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
