package format

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hostler/interpreter/lint"
)

// printer writes text and remembers the first error.
type printer struct {
	w     io.Writer
	color bool
	err   error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// paint puts a text between the codes of a colour.
func (p *printer) paint(code, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func writeText(w io.Writer, r Report) error {
	p := &printer{w: w, color: r.Color}
	for _, f := range r.Fixed {
		p.printf("%s: fixed: %s [%s]\n", f.Range.Filename, f.Fix.Message, f.Rule)
	}
	for _, f := range r.Refused {
		p.printf("%s:%d: not fixed, %s [%s]\n", f.Range.Filename, f.Range.Start.Line, f.Reason, f.Rule)
	}
	r.each(p.finding)
	p.summary(r)
	return p.err
}

func (p *printer) finding(res lint.Result, f lint.Finding) {
	word := p.paint("33", "warning")
	if f.Severity == lint.Error {
		word = p.paint("31", "error")
	}
	p.printf("%s:%d:%d: %s: %s [%s]\n", f.Range.Filename, f.Range.Start.Line, f.Range.Start.Column, word, p.paint("1", f.Summary), f.Rule)
	if s := snippetOf(res, f); s != nil {
		number := fmt.Sprint(s.StartLine)
		p.printf("  %s | %s\n", number, printable(s.Code))
		p.printf("  %s | %s%s\n", strings.Repeat(" ", len(number)), indent(s.Code[:s.HighlightStart]),
			p.paint("31", strings.Repeat("^", max(1, utf8.RuneCountInString(s.Code[s.HighlightStart:s.HighlightEnd])))))
	}
	p.printf("  %s\n", f.Detail)
	if f.Fix != nil {
		p.printf("  --fix would %s\n", f.Fix.Message)
	}
	p.printf("\n")
}

// indent is as wide as a text, with its tabs.
func indent(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' {
			return c
		}
		return ' '
	}, s)
}

// printable replaces control characters, which could write to the terminal.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return '·'
		}
		return c
	}, s)
}

func (p *printer) summary(r Report) {
	errors, warnings, fixable := r.count(lint.Error), r.count(lint.Warning), 0
	r.each(func(_ lint.Result, f lint.Finding) {
		if f.Fix != nil {
			fixable++
		}
	})
	if errors+warnings == 0 {
		p.printf("Nothing found in %s.\n", plural(len(r.Results), "recipe"))
		return
	}
	p.printf("%s and %s in %s", plural(errors, "error"), plural(warnings, "warning"), plural(len(r.Results), "recipe"))
	if fixable > 0 {
		p.printf("; --fix can remove %d", fixable)
	}
	p.printf(".\n")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
