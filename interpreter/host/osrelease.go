package host

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
)

// osReleaseLimit is far more than any os-release file needs, in bytes.
const osReleaseLimit = 1 << 20

// ReadOSRelease reads os-release(5) of the host: /etc/os-release, or
// /usr/lib/os-release if the first is absent or a link that leads nowhere. A
// host without either is the zero OSRelease, which is no error; lines that are
// no assignments are passed over.
func ReadOSRelease(f FileView) (OSRelease, error) {
	for _, name := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		text, err := readText(f, name)
		if Absent(err) || errors.Is(err, syscall.ELOOP) {
			continue
		}
		if err != nil {
			return OSRelease{}, fmt.Errorf("reading what system the host has: %w", err)
		}
		values := parseEnvFile(text)
		return OSRelease{
			ID:        values["ID"],
			IDLike:    slices.Collect(strings.FieldsSeq(values["ID_LIKE"])),
			VersionID: values["VERSION_ID"],
			VariantID: values["VARIANT_ID"],
			Name:      values["NAME"],
			Path:      name,
		}, nil
	}
	return OSRelease{}, nil
}

func readText(f FileView, name string) (string, error) {
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(file, osReleaseLimit))
	return string(b), errors.Join(err, file.Close())
}

// parseEnvFile reads shell-like assignments as systemd does: one a line,
// blanks before and comments skipped, the last of a name wins. A value may be
// bare, in single quotes (nothing is special) or in double quotes (a backslash
// takes the special meaning of the next character), and a backslash at the end
// of a line continues it. CRLF line ends count as LF.
func parseEnvFile(text string) map[string]string {
	values := map[string]string{}
	rest := strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for rest != "" {
		rest = strings.TrimLeft(rest, " \t\r\n")
		end := strings.IndexAny(rest, "=\n")
		if end < 0 {
			break
		}
		key := strings.TrimSpace(rest[:end])
		if rest[end] == '\n' || !envName(key) {
			_, rest, _ = strings.Cut(rest, "\n")
			continue
		}
		values[key], rest = envValue(rest[end+1:])
	}
	return values
}

// envName says whether key can be assigned to; a comment cannot.
func envName(key string) bool {
	for i, r := range key {
		letter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return key != ""
}

// envValue reads a value and returns what follows its line.
func envValue(s string) (value, rest string) {
	var b strings.Builder
	s = strings.TrimLeft(s, " \t")
	kept := 0 // length of the value without trailing blanks outside quotes
	for s != "" && s[0] != '\n' {
		var part string
		switch s[0] {
		case '\'':
			part, s = singleQuoted(s[1:])
		case '"':
			part, s = doubleQuoted(s[1:])
		case '\\':
			part, s = escaped(s[1:])
		default:
			part, s = s[:1], s[1:]
			b.WriteString(part)
			if part != " " && part != "\t" && part != "\r" {
				kept = b.Len()
			}
			continue
		}
		b.WriteString(part)
		kept = b.Len()
	}
	return b.String()[:kept], strings.TrimPrefix(s, "\n")
}

func singleQuoted(s string) (part, rest string) {
	part, rest, _ = strings.Cut(s, "'")
	return part, rest
}

func doubleQuoted(s string) (string, string) {
	var b strings.Builder
	for s != "" && s[0] != '"' {
		if s[0] == '\\' && len(s) > 1 {
			if !strings.ContainsRune("\"\\$`\n", rune(s[1])) {
				b.WriteByte('\\')
			}
			var part string
			part, s = escaped(s[1:])
			b.WriteString(part)
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String(), strings.TrimPrefix(s, `"`)
}

// escaped is the character after a backslash; a line end vanishes.
func escaped(s string) (part, rest string) {
	switch {
	case s == "":
		return "", ""
	case s[0] == '\n':
		return "", s[1:]
	}
	return s[:1], s[1:]
}
