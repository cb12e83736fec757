package block

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

// Advicef is an error whose text is whole sentences that say what to write
// instead, for the detail of a diagnostic.
func Advicef(format string, args ...any) error { return advice(fmt.Sprintf(format, args...)) }

type advice string

func (a advice) Error() string { return string(a) }

// ParseMode reads a file mode: a string of three or four octal digits after a
// leading zero.
func ParseMode(s string) (uint32, error) {
	digits := strings.TrimLeft(s, "0")
	n, err := strconv.ParseUint("0"+digits, 8, 32)
	switch {
	case err != nil:
		return 0, Advicef("%q is no file mode: its digits are octal, 0 to 7; write one such as \"0644\".", s)
	case n > 0o7777:
		return 0, Advicef("%q is no file mode: the largest is \"07777\"; write one such as \"0644\".", s)
	case !strings.HasPrefix(s, "0") || len(s) < 4 || len(s) > 5:
		return 0, Advicef("%q lacks the leading zero of a mode; write %q.", s, fmt.Sprintf("%#04o", n))
	}
	return uint32(n), nil
}

// ParseDuration reads a duration such as "30s" or "1h30m"; it is not negative.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		if n, numeric := strconv.ParseUint(s, 10, 32); numeric == nil {
			return 0, Advicef("%q has no unit; write \"%ds\" or \"%dm\".", s, n, n)
		}
		return 0, Advicef("%q is no duration; write one such as \"30s\", \"5m\" or \"1h30m\".", s)
	}
	if d < 0 {
		return 0, Advicef("%q is negative; write a duration from \"0s\" on.", s)
	}
	return d, nil
}

// The bounds of Linux for a name in a path and for a path, in bytes.
const (
	maxName = 255
	maxPath = 4095
)

// CheckPath holds a path to the rule: absolute, clean, of visible characters,
// and no longer than a file system takes.
func CheckPath(p string) error {
	if err := checkNUL(p); err != nil {
		return err
	}
	clean := path.Clean("/" + p)
	switch {
	case p == "":
		return Advicef("The path is empty; write an absolute path.")
	case !path.IsAbs(p):
		return Advicef("%q is relative; write an absolute path, for example %q.", p, clean)
	case p != clean:
		return Advicef("%q is not in its shortest form; write %q.", p, clean)
	case strings.ContainsFunc(p, unicode.IsControl):
		return Advicef("%q holds a control character; write a path of visible ones.", p)
	case len(p) > maxPath:
		return Advicef("The path is %d bytes long; %d is the most.", len(p), maxPath)
	}
	for name := range strings.SplitSeq(p, "/") {
		if len(name) > maxName {
			return Advicef("The path has a name of %d bytes; %d is the most: %q….", len(name), maxName, name[:16])
		}
	}
	return nil
}

var reasonName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,127}$`)

// CheckReason holds a failure reason to the rule: one word in CamelCase, as
// conditions of Kubernetes objects have it.
func CheckReason(s string) error {
	if !reasonName.MatchString(s) {
		return Advicef("%q is no failure reason: it is one word in CamelCase of at most 128 letters and digits; write one such as \"KubeletBootstrapFailed\".", s)
	}
	return nil
}

// CheckArgv holds a command line to the rule: a list whose first string, the
// program, is not empty, and no NUL anywhere.
func CheckArgv(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return Advicef("A command line is a list that starts with the program; write for example [\"systemctl\", \"--version\"].")
	}
	for _, arg := range argv {
		if err := checkNUL(arg); err != nil {
			return err
		}
	}
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		return Advicef("%q is one string with blanks, and no shell splits it; write each word as a string of its own.", argv[0])
	}
	return nil
}

var (
	unitName     = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+$`)
	unitSuffixes = "service socket device mount automount swap target path timer slice scope"
)

// CheckUnitName holds a name to systemd's rule: a known suffix, its characters,
// 255 bytes at most.
func CheckUnitName(name string) error {
	stem, suffix := strings.TrimSuffix(name, path.Ext(name)), strings.TrimPrefix(path.Ext(name), ".")
	known := suffix != "" && strings.Contains(" "+unitSuffixes+" ", " "+suffix+" ")
	switch {
	case !known && unitName.MatchString(name):
		return Advicef("%q has no unit type at its end; write for example %q.", name, name+".service")
	case !known || stem == "" || stem[0] == '@' || !unitName.MatchString(name) || strings.Count(name, "@") > 1:
		return Advicef("%q is no unit name: it has letters, digits and : - _ . \\ @ only and ends in .service, .socket, …; escape other characters with unit_escape().", name)
	case len(name) > 255:
		return Advicef("The unit name is %d bytes long; 255 is the most.", len(name))
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return Advicef("This is no URL to ask; write one that starts with https:// or http:// and names a host.")
	case u.User != nil:
		return Advicef("The URL holds a user or password; leave them out, they would show in plans and logs.")
	}
	return nil
}

func canonicalBase64(v cty.Value) (cty.Value, error) {
	if v.IsNull() || v.Type() != cty.String {
		return v, nil
	}
	packed := strings.Join(strings.Fields(v.AsString()), "")
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return v, Advicef("This is not standard base64; use filebase64() or base64encode().")
	}
	return cty.StringVal(base64.StdEncoding.EncodeToString(raw)).WithSameMarks(v), nil
}

func checkNUL(s string) error {
	if strings.ContainsRune(s, 0) {
		return Advicef("The string holds a NUL byte, which no path, argument or text file can; leave it out.")
	}
	if !utf8.ValidString(s) {
		return Advicef("The string is not UTF-8.")
	}
	return nil
}
