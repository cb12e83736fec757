package main

import (
	"io"
	"os"

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
		in: os.Stdin, out: report.Pen{W: os.Stdout}, err: report.Pen{W: os.Stderr},
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
