package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// The exit codes, frozen.
const (
	exitDone         = 0
	exitFailed       = 1
	exitChanges      = 2
	exitUsage        = 64
	exitInvalid      = 65
	exitStoodDown    = 69
	exitRefused      = 73
	exitLocked       = 75
	exitUnprivileged = 77
	exitUnmet        = 78
	exitInterrupt    = 130
	exitTerminated   = 143
)

// codeError is an error whose exit code is known. One without a cause has
// nothing to show.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// exit shows an error and says which code the process ends with.
func (a *app) exit(err error, sig os.Signal) int {
	if err == nil {
		return exitDone
	}
	if sig != nil {
		return a.interrupted(err, sig)
	}
	coded, ok := errors.AsType[*codeError](err)
	if !ok {
		coded = &codeError{codeOf(err), err}
	}
	if coded.err != nil && !a.reported {
		a.show(err)
	}
	return coded.code
}

func (a *app) interrupted(err error, sig os.Signal) int {
	if !errors.Is(err, context.Canceled) {
		a.show(err)
	}
	fmt.Fprintln(a.err.W, "hostler: interrupted; what was begun is finished by running the command again")
	if sig == os.Interrupt {
		return exitInterrupt
	}
	return exitTerminated
}

// codeOf is the exit code of an error. When several hold: 75, 77, 65, 73, 78.
func codeOf(err error) int {
	diags, invalid := errors.AsType[hcl.Diagnostics](err)
	unsupported := eval.Unsupported(diags) && len(diags.Errs()) == 1
	for _, c := range [...]struct {
		code  int
		holds bool
	}{
		{exitLocked, has[*host.HeldError](err)},
		{exitUnprivileged, has[*privilegeError](err) || errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0},
		{exitInvalid, invalid && !unsupported},
		{exitRefused, has[*record.RefusedError](err) || has[*interpreter.ForeignError](err) || has[*walk.EditedError](err)},
		{exitUnmet, unsupported || has[*interpreter.UnmetError](err)},
		{exitUsage, errors.Is(err, record.ErrNotGiven)},
	} {
		if c.holds {
			return c.code
		}
	}
	return exitFailed
}

func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// privilegeError is a command that needs root.
type privilegeError struct{ command string }

func (e *privilegeError) Error() string {
	return fmt.Sprintf("hostler %s on the running host needs root; run it as root, or give --root DIR for an offline host", e.command)
}

// show writes an error: for people, or as a document when one was asked for.
func (a *app) show(err error) {
	diags, isDiags := errors.AsType[hcl.Diagnostics](err)
	coded, isCoded := errors.AsType[*codeError](err)
	switch {
	case a.json() && !(isCoded && coded.code == exitUsage):
		a.document(a.failure(err))
	case isDiags:
		a.diagnose(diags)
	default:
		fmt.Fprintf(a.err.W, "hostler: %v\n", err)
	}
}

// failure is the document in the place of one that could not be made.
func (a *app) failure(err error) report.Validation {
	found := a.faults(err)
	return report.Validation{FormatVersion: report.FormatVersion, ErrorCount: len(found), Diagnostics: found}
}

// faults are an error as diagnostics.
func (a *app) faults(err error) []report.Diagnostic {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok {
		return report.Diagnostics(diags, a.sources())
	}
	one := report.Diagnostic{Severity: "error", Summary: "Failed", Detail: err.Error()}
	if step, ok := errors.AsType[*walk.StepError](err); ok {
		one.Address = step.Address
	}
	return []report.Diagnostic{one}
}
