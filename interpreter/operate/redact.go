package operate

import (
	"fmt"
	"regexp"
)

// secretive are texts that look like secrets wherever they stand: private
// keys, bearer and basic credentials, JSON web tokens, bootstrap tokens of
// Kubernetes, passwords in URLs, and values of names that say so.
var secretive = []struct {
	pattern *regexp.Regexp
	keep    string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), "(redacted private key)"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)[ \t]+[A-Za-z0-9._~+/=-]{8,}`), "$1 (redacted)"},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`), "(redacted)"},
	{regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`), "(redacted)"},
	{regexp.MustCompile(`(://[^/\s:@"]+:)[^/\s@"]+@`), "$1(redacted)@"},
	{regexp.MustCompile(telling + `\\*")(?:[^"\\]|\\[^"]){4,}`), "$1(redacted)"},
	{regexp.MustCompile(telling + `\\*')(?:[^'\\]|\\[^']){4,}`), "$1(redacted)"},
	{regexp.MustCompile(telling + `)(?:[^\s"',;&\\]|\\[^\s"']){4,}`), "$1(redacted)"},
}

// telling begins a value of a name that says secret: up to the value, which may be
// in quotes, and those behind backslashes where one JSON is in another.
const telling = `(?i)((?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|client[_-]?secret|token|sig|signature)\\*["']?[ \t]*[=:][ \t]*`

// Redact takes out of a text what looks like a secret.
func Redact(s string) string {
	for _, r := range secretive {
		s = r.pattern.ReplaceAllString(s, r.keep)
	}
	return s
}

// maxKept is the length of texts of a record that are kept: names and
// digests are shorter, contents may be longer.
const maxKept = 160

// contents are the arguments whose values are contents or command lines.
var contents = map[string]bool{"content": true, "content_base64": true, "values": true, "argv": true, "environment": true, "token": true, "url": true}

// withoutContents is JSON in which contents are replaced by their size.
func withoutContents(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); ok && contents[key] {
				v[key] = size(text)
				continue
			}
			if contents[key] {
				v[key] = "(not shown)"
				continue
			}
			v[key] = withoutContents(inner)
		}
		return v
	case []any:
		for i := range v {
			v[i] = withoutContents(v[i])
		}
		return v
	case string:
		if len(v) > maxKept {
			return size(v)
		}
	}
	return v
}

func size(s string) string { return fmt.Sprintf("(%d bytes)", len(s)) }
