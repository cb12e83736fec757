package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"hostler/interpreter/report"
)

// streams are what the program reads and writes.
type streams struct {
	in io.Reader
	// out takes results, err everything else.
	out, err report.Pen
	// terminal says that err is a terminal, which shows progress; width is
	// that of err in columns.
	terminal bool
	width    int
	env      func(string) (string, bool)
	// self opens the program that runs, which recipes install.
	self    func() (io.ReadCloser, error)
	environ func() []string
	// supervisor is who started the program, if that is systemd.
	supervisor supervisor
}

// plainWidth is the width of text that goes to no terminal.
const plainWidth = 100

func standard() streams {
	s := streams{
		in: os.Stdin, out: report.Pen{W: &result{w: os.Stdout}}, err: report.Pen{W: os.Stderr},
		env: os.LookupEnv, environ: os.Environ, width: plainWidth, supervisor: supervised(),
		self: func() (io.ReadCloser, error) { return os.Open("/proc/self/exe") },
	}
	colors := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.out = report.Pen{W: report.Shown(os.Stdout), Color: colors}
	}
	if s.terminal = term.IsTerminal(int(os.Stderr.Fd())); s.terminal {
		s.err = report.Pen{W: report.Shown(os.Stderr), Color: colors}
	}
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 20 {
		s.width = w
	}
	return s
}

// result is where results are written to. It remembers the first fault: a plan
// or a document that is cut short must not look like a whole one.
type result struct {
	w   io.Writer
	err error
}

func (r *result) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// unwritten is the error of a command that is done and could not say so. What
// changed a host has changed it: then it is only told.
func (a *app) unwritten(done error) error {
	r, ok := a.out.W.(*result)
	if !ok || r.err == nil || done != nil {
		return nil
	}
	err := fmt.Errorf("write the result: %w", r.err)
	if a.changes {
		a.notes([]string{err.Error()})
		return nil
	}
	fmt.Fprintf(a.err.W, "hostler: %v\n", err)
	return &codeError{code: exitFailed}
}

// outlive lets a change of a host go on when nobody reads any more what it says:
// a pipe that breaks would end the program between two steps.
func (a *app) outlive() {
	a.changes = true
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
