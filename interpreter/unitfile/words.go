package unitfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Words splits a value at blanks as systemd does for lists of names: quotes
// group and are taken off, backslashes stay as they are.
func Words(value string) ([]string, error) {
	s := splitter{rest: value, keepEscapes: true}
	return s.all()
}

// Command is one command of an Exec directive.
type Command struct {
	Prefixes string
	Argv     []string
}

// SplitExecs splits the value of a directive such as ExecStart that may hold
// several commands, separated by a semicolon that is a word of its own: the
// special prefixes ("@", "-", ":", "+", "!", "!!", "|"), and the program with
// its arguments, quotes and escapes resolved. Specifiers and variables stay as
// written. An unknown escape is kept with its backslash, as systemd does.
func SplitExecs(value string) ([]Command, error) {
	s := splitter{rest: value}
	var commands []Command
	var current *Command
	for {
		w, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return commands, nil
		}
		switch {
		case w.raw == ";" && current != nil:
			current = nil
		case current == nil:
			c, err := startCommand(w.text)
			if err != nil {
				return nil, err
			}
			commands = append(commands, c)
			current = &commands[len(commands)-1]
		case w.raw == `\;`:
			current.Argv = append(current.Argv, ";")
		default:
			current.Argv = append(current.Argv, w.text)
		}
	}
}

func startCommand(word string) (Command, error) {
	n := 0
	for n < len(word) && strings.IndexByte("@-:+!|", word[n]) >= 0 {
		n++
	}
	program := word[n:]
	switch {
	case program == "":
		return Command{}, fmt.Errorf("%q names no program", word)
	case strings.HasSuffix(program, "/"):
		return Command{}, fmt.Errorf("%q is a directory, not a program", program)
	case strings.Contains(program, "/") && program[0] != '/' && program[0] != '%':
		return Command{}, fmt.Errorf("%q is a relative path; write an absolute path or a bare name", program)
	}
	return Command{Prefixes: word[:n], Argv: []string{program}}, nil
}

type splitter struct {
	rest        string
	keepEscapes bool
}

// word is one word: as it reads, and as it was written.
type word struct{ text, raw string }

func (s *splitter) all() ([]string, error) {
	var words []string
	for {
		w, ok, err := s.next()
		if err != nil || !ok {
			return words, err
		}
		words = append(words, w.text)
	}
}

func (s *splitter) next() (word, bool, error) {
	s.rest = strings.TrimLeft(s.rest, blanks)
	if s.rest == "" {
		return word{}, false, nil
	}
	var text []byte
	var quote byte
	i := 0
	for i < len(s.rest) {
		c := s.rest[i]
		switch {
		case quote == 0 && strings.IndexByte(blanks, c) >= 0:
			return s.take(text, i), true, nil
		case c == '\\' && !s.keepEscapes:
			piece, width := unescape(s.rest[i:])
			text = append(text, piece...)
			i += width
			continue
		case c == '\\' && i+1 < len(s.rest):
			text = append(text, c, s.rest[i+1])
			i += 2
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		default:
			text = append(text, c)
		}
		i++
	}
	if quote != 0 {
		return word{}, false, fmt.Errorf("a quote %c is not closed", quote)
	}
	return s.take(text, i), true, nil
}

func (s *splitter) take(text []byte, end int) word {
	w := word{string(text), s.rest[:end]}
	s.rest = s.rest[end:]
	return w
}

// unescape resolves the escape that s starts with and says how many bytes it
// has. One that systemd does not know is itself.
func unescape(s string) (string, int) {
	if len(s) < 2 {
		return s, len(s)
	}
	const from, to = `abfnrtv\"'s`, "\a\b\f\n\r\t\v\\\"' "
	if i := strings.IndexByte(from, s[1]); i >= 0 {
		return to[i : i+1], 2
	}
	switch s[1] {
	case 'x':
		if n, ok := digits(s[2:], 2, 16); ok && n != 0 {
			return string([]byte{byte(n)}), 4
		}
	case 'u', 'U':
		width := map[byte]int{'u': 4, 'U': 8}[s[1]]
		if n, ok := digits(s[2:], width, 16); ok && n != 0 && utf8.ValidRune(rune(n)) {
			return string(rune(n)), 2 + width
		}
	default:
		if n, ok := digits(s[1:], 3, 8); ok && n != 0 && n < 256 {
			return string([]byte{byte(n)}), 4
		}
	}
	return s[:2], 2
}

func digits(s string, width, base int) (n int, ok bool) {
	if len(s) < width {
		return 0, false
	}
	for _, c := range []byte(strings.ToLower(s[:width])) {
		d := strings.IndexByte("0123456789abcdef"[:base], c)
		if d < 0 {
			return 0, false
		}
		n = n*base + d
	}
	return n, true
}
