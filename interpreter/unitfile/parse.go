package unitfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line, continuations included, that systemd reads, in
// bytes (LONG_LINE_MAX).
const MaxLine = 1 << 20

const (
	blanks   = " \t\n\r"
	comments = "#;"
)

// Fault is something in a unit file that systemd ignores or refuses.
type Fault struct {
	Range   Range
	Summary string // two to five words
	Detail  string // sentences that say what systemd does and what to write
	// Fatal says that systemd does not load the file at all; other faults
	// lose a line.
	Fatal bool
}

func (f Fault) Error() string {
	return fmt.Sprintf("line %d: %s: %s", f.Range.Start.Line, f.Summary, f.Detail)
}

// Parse reads unit-file text as systemd does, and reports what systemd would
// ignore or refuse. The file holds everything that systemd would take, up to a
// fatal fault. name is kept for messages and for the specifiers of [Install].
func Parse(name string, src []byte) (*File, []Fault) {
	lines := splitLines(src)
	p := &parser{file: &File{Name: name}, index: newIndex(src, lines), src: src}
	p.byteOrderMark(lines)
	p.returns(lines)
	for _, l := range lines {
		if p.stopped {
			break
		}
		p.line(l)
	}
	if !p.stopped && p.pending != nil {
		p.statement()
	}
	return p.file, p.faults
}

type parser struct {
	file    *File
	index   index
	src     []byte
	faults  []Fault
	pending *logical
	section *Section
	skipped bool // a text before any section has been reported
	stopped bool
}

// byteOrderMark skips a UTF-8 mark at the start, as systemd does.
func (p *parser) byteOrderMark(lines []line) {
	if len(lines) > 0 && bytes.HasPrefix(p.src, []byte("\xef\xbb\xbf")) {
		lines[0].start += 3
	}
}

// returns reports carriage returns once: systemd takes them as line ends.
func (p *parser) returns(lines []line) {
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l.terminator, "\r"):
			p.fault(l.end, l.end+len(l.terminator), "Carriage return", "systemd takes it as the end of a line; write line ends as a newline alone.")
			return
		case l.terminator == "\x00":
			p.fault(l.end, l.end+1, "NUL byte", "systemd takes it as the end of a line; leave it out.")
			return
		}
	}
}

func (p *parser) fault(start, end int, summary, detail string) {
	p.faults = append(p.faults, Fault{Range: p.index.span(start, end), Summary: summary, Detail: detail})
}

func (p *parser) stop(start, end int, summary, detail string) {
	p.fault(start, end, summary, detail)
	p.faults[len(p.faults)-1].Fatal = true
	p.stopped = true
}

// line takes one physical line: a comment, which may stand inside a continued
// line, or a piece of a statement.
func (p *parser) line(l line) {
	if l.end-l.start > MaxLine {
		p.stop(l.start, l.end, "Line too long", "systemd reads no line above 1 MiB and refuses the file; shorten it.")
		return
	}
	start := l.start
	for start < l.end && strings.IndexByte(blanks, p.src[start]) >= 0 {
		start++
	}
	if start < l.end && strings.IndexByte(comments, p.src[start]) >= 0 {
		return
	}
	if p.pending == nil {
		p.pending = &logical{}
	}
	p.pending.parts = append(p.pending.parts, part{len(p.pending.text), start})
	p.pending.text = append(p.pending.text, p.src[start:l.end]...)
	if len(p.pending.text) > MaxLine {
		p.stop(l.start, l.end, "Line too long", "Together with its continuations the line is above 1 MiB, and systemd refuses the file; shorten it.")
		return
	}
	if continues(p.pending.text) {
		p.pending.text[len(p.pending.text)-1] = ' '
		return
	}
	p.statement()
}

// statement takes the logical line that is complete.
func (p *parser) statement() {
	l := p.pending
	p.pending = nil
	start, end := trim(l.text, 0, len(l.text))
	if start == end {
		return
	}
	text := l.text[start:end]
	from, to := l.source(start), l.source(end-1)+1
	switch {
	case !utf8.Valid(text):
		p.fault(from, to, "Not UTF-8", "systemd ignores a line that is not valid UTF-8; write the file in UTF-8.")
	case text[0] == '[':
		p.header(string(text), from, to)
	default:
		p.assignment(l, start, end)
	}
}

func (p *parser) header(text string, from, to int) {
	if !strings.HasSuffix(text, "]") {
		p.stop(from, to, "Invalid section header", fmt.Sprintf("%q does not end with a bracket, and systemd refuses the file from here on; write for example [Unit].", clip(text)))
		return
	}
	p.section = &Section{Name: text[1 : len(text)-1], Range: p.index.span(from, to)}
	p.file.Sections = append(p.file.Sections, p.section)
}

func (p *parser) assignment(l *logical, start, end int) {
	text := l.text[start:end]
	from, to := l.source(start), l.source(end-1)+1
	eq := bytes.IndexByte(text, '=')
	switch {
	case p.section == nil:
		if !p.skipped {
			p.fault(from, to, "Text before a section", "systemd ignores everything before the first section header; write one such as [Unit] or [Service] above.")
		}
		p.skipped = true
	case eq < 0:
		p.fault(from, to, "Line without \"=\"", fmt.Sprintf("systemd ignores %q; write Name=value, or # before a comment.", clip(string(text))))
	case eq == 0:
		p.fault(from, to, "No name before \"=\"", "systemd ignores the line; write Name=value.")
	default:
		p.section.Directives = append(p.section.Directives, p.directive(l, start, start+eq, end))
	}
}

func (p *parser) directive(l *logical, start, eq, end int) Directive {
	keyStart, keyEnd := trim(l.text, start, eq)
	valStart, valEnd := trim(l.text, eq+1, end)
	d := Directive{
		Key: string(l.text[keyStart:keyEnd]), Value: string(l.text[valStart:valEnd]),
		KeyRange: p.index.span(l.source(keyStart), l.source(keyEnd-1)+1),
	}
	if valStart == valEnd {
		at := l.source(eq) + 1
		d.ValueRange = p.index.span(at, at)
		return d
	}
	d.ValueRange = p.index.span(l.source(valStart), l.source(valEnd-1)+1)
	return d
}

// clip keeps a piece of text short enough for a message.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
