package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// TestCodeOf: when several codes hold, the order is 75, 77, 65, 73, 78.
func TestCodeOf(t *testing.T) {
	held, denied := error(&host.HeldError{Path: "/run/hostler/lock"}), error(&privilegeError{"apply"})
	invalid := error(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Bad"}})
	refused, unmet := error(&record.RefusedError{Reason: "no"}), error(&interpreter.UnmetError{})
	for _, c := range []struct {
		err  error
		code int
	}{
		{errors.New("other"), 1}, {held, 75}, {denied, 77}, {invalid, 65}, {refused, 73}, {unmet, 78},
		{&interpreter.ForeignError{}, 73}, {&walk.EditedError{}, 73}, {fmt.Errorf("more: %w", refused), 73},
		{&walk.StepError{Address: "a", Err: fs.ErrNotExist}, 1},
		{errors.Join(unmet, refused), 73}, {errors.Join(unmet, refused, invalid), 65},
		{errors.Join(unmet, refused, invalid, denied), 77}, {errors.Join(unmet, refused, invalid, denied, held), 75},
	} {
		if got := codeOf(c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
	}
}

// testApp is a program whose standard error is read.
func testApp(errs *strings.Builder) *app {
	return &app{streams: streams{out: report.Pen{W: new(strings.Builder)}, err: report.Pen{W: errs}, width: plainWidth}}
}

func TestExitOnSignals(t *testing.T) {
	for _, c := range []struct {
		err    error
		signal os.Signal
		code   int
		says   string
	}{
		{nil, nil, 0, ""},
		{nil, os.Interrupt, 0, ""}, // it was done before the signal counted
		{context.Canceled, os.Interrupt, 130, "hostler: interrupted"},
		{fmt.Errorf("a: %w", context.Canceled), syscall.SIGTERM, 143, "hostler: interrupted"},
		{context.Canceled, syscall.SIGHUP, 143, "hostler: interrupted"},
		{errors.New("disk full"), os.Interrupt, 130, "hostler: disk full\nhostler: interrupted"},
		{&codeError{code: 2}, nil, 2, ""},
		{usagef("no such flag"), nil, 64, "hostler: no such flag\n"},
	} {
		var errs strings.Builder
		if got := testApp(&errs).exit(c.err, c.signal); got != c.code {
			t.Errorf("%v on %v: %d, want %d", c.err, c.signal, got, c.code)
		}
		if !strings.HasPrefix(errs.String(), c.says) || c.says == "" && errs.String() != "" {
			t.Errorf("%v on %v says %q, want %q", c.err, c.signal, errs.String(), c.says)
		}
	}
}

func TestCodeErrorText(t *testing.T) {
	if got := (&codeError{code: 2}).Error(); got != "exit status 2" {
		t.Errorf("%q", got)
	}
}
