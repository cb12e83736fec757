package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"hostler/interpreter/rehearse"
)

// lineReader reads what is typed, line by line; the error is io.EOF at the end.
// more says that an expression goes on.
type lineReader func(more bool) (string, error)

// converse answers expressions until there are no more. Without a terminal, an
// expression that fails makes the command fail.
func (a *app) converse(c *rehearse.Console) error {
	if file, ok := a.in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return a.onTerminal(c, file)
	}
	lines := bufio.NewScanner(a.in)
	lines.Buffer(nil, 1<<20)
	failed, err := a.answer(c, a.out.W, a.err.W, func(bool) (string, error) {
		if !lines.Scan() {
			return "", errors.Join(lines.Err(), io.EOF)
		}
		return lines.Text(), nil
	})
	if err == nil && failed {
		return &codeError{code: exitFailed}
	}
	return err
}

// onTerminal has history and completion.
func (a *app) onTerminal(c *rehearse.Console, file *os.File) error {
	state, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(file.Fd()), state) }() // the process ends
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, a.out.W}, "> ")
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		return completed(t, c.Complete(line))
	}
	_, err = a.answer(c, t, t, func(more bool) (string, error) {
		t.SetPrompt("> ")
		if more {
			t.SetPrompt("… ")
		}
		return t.ReadLine()
	})
	return err
}

// completed is the line with all that the candidates have in common; several
// that have no more in common are listed.
func completed(w io.Writer, lines []string) (string, int, bool) {
	if len(lines) == 0 {
		return "", 0, false
	}
	common := lines[0]
	for _, line := range lines[1:] {
		for !strings.HasPrefix(line, common) {
			common = common[:len(common)-1]
		}
	}
	if len(lines) > 1 && len(lines) <= 40 {
		fmt.Fprintln(w, strings.Join(lines, "  "))
	}
	return common, len(common), true
}

// answer reads expressions and writes what they are.
func (a *app) answer(c *rehearse.Console, out, notes io.Writer, read lineReader) (failed bool, err error) {
	text := ""
	for {
		line, err := read(text != "")
		if err != nil && !errors.Is(err, io.EOF) {
			return failed, err
		}
		ended := err != nil
		if text += line + "\n"; !ended && rehearse.Unfinished(text) && strings.TrimSpace(line) != "" {
			continue
		}
		expr := strings.TrimSpace(text)
		text = ""
		switch {
		case expr == "exit", expr == "quit":
			return failed, nil
		case expr != "":
			failed = !a.evaluate(c, expr, out, notes) || failed
		}
		if ended {
			return failed, nil
		}
	}
}

func (a *app) evaluate(c *rehearse.Console, expr string, out, notes io.Writer) bool {
	value, diags := c.Eval(expr)
	if len(diags) > 0 {
		files := map[string]*hcl.File{c.Name: {Bytes: []byte(expr)}}
		_ = hcl.NewDiagnosticTextWriter(notes, files, uint(a.width), false).WriteDiagnostics(diags) // as writing an answer, it is best effort
	}
	if diags.HasErrors() {
		return false
	}
	fmt.Fprintln(out, value)
	return true
}
