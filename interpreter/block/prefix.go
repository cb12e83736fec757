package block

import (
	"regexp"
	"slices"
	"strings"
)

// maxPrefix bounds the length of an install prefix, in bytes, so that no path
// made of it is too long for a unit file or a socket below it.
const maxPrefix = 200

var prefix = regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)

// CheckPrefix holds an install prefix to its grammar, which is so narrow that a
// prefix stands for itself in a unit file, in an unquoted word of a shell, in a
// URL and in JSON: letters, digits and . _ - between slashes, no "." and ".."
// by themselves, no slash at the end, not the root, 200 bytes at most. The
// error is whole sentences that say what to write instead.
func CheckPrefix(s string) error {
	parts := strings.Split(s, "/")
	switch {
	case s == "":
		return Advicef("The prefix is empty; write an absolute path such as \"/opt/hostler\", or leave it out.")
	case s[0] != '/':
		return Advicef("%q is relative; write an absolute path such as \"/opt/hostler\".", s)
	case s == "/":
		return Advicef("\"/\" is the root directory; write a directory below it, such as \"/opt/hostler\".")
	case len(s) > maxPrefix:
		return Advicef("The prefix is %d bytes long; %d is the most.", len(s), maxPrefix)
	case slices.Contains(parts, ".") || slices.Contains(parts, "..") || strings.Contains(s, "//") || strings.HasSuffix(s, "/"):
		return Advicef("%q is not in its shortest form; write it without \".\", \"..\" and needless slashes.", s)
	case !prefix.MatchString(s):
		return Advicef("%q holds a character that is not the same in unit files and shells; write letters, digits, and . _ - only.", s)
	}
	return nil
}
