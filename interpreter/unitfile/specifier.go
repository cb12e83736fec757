package unitfile

import (
	"fmt"
	"strings"
)

// Specifier is one "%c" in a value.
type Specifier struct {
	Letter byte // the letter after the percent sign; 0 for a percent sign at the end
	At     int  // byte offset of the percent sign
}

// Specifiers lists the specifiers of a value, "%%" left out.
func Specifiers(value string) []Specifier {
	var list []Specifier
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			continue
		}
		if i+1 == len(value) {
			return append(list, Specifier{At: i})
		}
		if value[i+1] != '%' {
			list = append(list, Specifier{value[i+1], i})
		}
		i++
	}
	return list
}

// KnownSpecifier says whether systemd knows the letter in unit files.
func KnownSpecifier(letter byte) bool {
	return letter != 0 && strings.IndexByte("aAbBCdDEfgGhHiIjJlLmMnNopPqsStTuUvVwWyY", letter) >= 0
}

// EscapeSpecifiers doubles percent signs, so that text stands for itself.
func EscapeSpecifiers(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// expand resolves the specifiers that depend on nothing but the unit's name
// and root's account, which are those that [Install] sections need. Others
// depend on the running host and are an error.
func expand(value string, n Name) (string, error) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			b.WriteByte(value[i])
			continue
		}
		i++
		if i == len(value) {
			b.WriteByte('%')
			break
		}
		text, ok := n.specifier(value[i])
		if !ok {
			return "", fmt.Errorf("the specifier %%%c in %q depends on the running host, or systemd does not know it; write the name itself", value[i], value)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (n Name) specifier(letter byte) (string, bool) {
	switch letter {
	case '%':
		return "%", true
	case 'n':
		return n.String(), true
	case 'N':
		return strings.TrimSuffix(n.String(), "."+n.Type), true
	case 'p':
		return n.Prefix, true
	case 'i':
		return n.Instance, true
	case 'j':
		return n.Prefix[strings.LastIndexByte(n.Prefix, '-')+1:], true
	case 'u', 'g':
		return "root", true
	case 'U', 'G':
		return "0", true
	}
	return "", false
}
