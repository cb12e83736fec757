package report_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hostler/interpreter/report"
)

// What a host says does not command the operator's terminal.
func TestAHostDoesNotCommandTheTerminal(t *testing.T) {
	for said, want := range map[string]string{
		"plain\ttext, ünï, ✗\n":                   "plain\ttext, ünï, ✗\n",
		"\x1b[32m+ create\x1b[0m \x1b[2mx\x1b[0m": "\x1b[32m+ create\x1b[0m \x1b[2mx\x1b[0m",
		"\x1b]0;title\x07":                        `\x1b]0;title\x07`,
		"\x1b[8mhidden":                           `\x1b[8mhidden`,
		"a\rb\r\n":                                "a\\x0db\\x0d\n",
		"gone\r\x1b[K":                            `gone\x0d\x1b[K`,
		"\u009b31m":                               `\x9b31m`,
		"\u202egnp.exe":                           `\x202egnp.exe`,
		"\xff\x7f":                                "\xff" + `\x7f`,
		"\r\x1b[K":                                "\r\x1b[K", // the progress takes its line back
	} {
		var out strings.Builder
		if n, err := report.Shown(&out).Write([]byte(said)); err != nil || n != len(said) || out.String() != want {
			t.Errorf("%q: %q, want %q (%d, %v)", said, out.String(), want, n, err)
		}
	}
	full := errors.New("full")
	if _, err := fmt.Fprint(report.Shown(failing{full}), "x"); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
