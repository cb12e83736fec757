package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/report"
	"hostler/interpreter/resident"
)

// hexSum is a digest.
var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// readProgram reads a program from a file of the machine.
func readProgram(name, sum string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	program, err := resident.Read(file, sum)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return program, nil
}

// changeProgram runs a change of the interpreter itself and reports it.
func (a *app) changeProgram(c *cobra.Command, do func(*interpreter.Interpreter) (resident.Done, error)) error {
	t := a.telling(c.Name())
	began := time.Now()
	t.start(report.Started{Time: began, Command: c.Name()})
	var done resident.Done
	err := a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) (err error) {
		in.Emit = t.event
		done, err = do(in)
		return err
	})
	out := interpreter.Outcome{Word: "ok", Phase: done.Phase, Identity: done.Identity}
	switch {
	case err != nil:
		out.Word, out.Failed = "failed", 1
	case done.Changed:
		out.Changed = 1
	default:
		out.Unchanged = 1
	}
	t.finish(out, err, report.Finished{Time: time.Now(), Command: c.Name(), Took: time.Since(began)})
	if err == nil && !a.json() && !a.flags.quiet {
		a.sayProgram(done)
	}
	return err
}

func (a *app) sayProgram(done resident.Done) {
	if !done.Changed {
		fmt.Fprintf(a.out.W, "%s holds that program already\n", done.Slot)
		return
	}
	fmt.Fprintf(a.out.W, "%s runs, from %s\n", done.Version, done.Slot)
}
