package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hostler": func() { os.Exit(run(os.Args[1:], standard())) },
	})
}

// TestScripts runs the whole-program scripts.
func TestScripts(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		Cmds:                commandsForScripts(),
		Setup: func(env *testscript.Env) error {
			env.Values[heldLocks{}] = map[string]*os.File{}
			return nil
		},
	})
}
