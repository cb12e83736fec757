package functions

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func hostFunctions() map[string]function.Function {
	return map[string]function.Function{
		"unit_escape": unitEscape(),
		"semver_minor": text(semverMinor, "Returns MAJOR.MINOR of a semantic version; a leading v is left out.",
			param("version", "The version, such as 1.34.1 or v1.34.1-rc.1.")),
	}
}

func unitEscape() function.Function {
	mode := param("mode", "\"path\" treats the text as a path: slashes at its ends are left out. Anything else is an error.")
	return function.New(&function.Spec{
		Description: "Escapes a text for use in the name of a systemd unit, as systemd-escape does.",
		Params:      []function.Parameter{param("str", aText)},
		VarParam:    &mode,
		Type: func(args []cty.Value) (cty.Type, error) {
			if len(args) > 2 {
				return cty.NilType, function.NewArgErrorf(2, "only a text and a mode are taken")
			}
			return cty.String, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			str := args[0].AsString()
			if len(args) == 1 {
				return cty.StringVal(escapeUnit(str)), nil
			}
			if args[1].AsString() != "path" {
				return cty.NilVal, function.NewArgErrorf(1, "must be \"path\"")
			}
			return escapePath(str)
		},
	})
}

// escapePath escapes as systemd-escape --path does: empty and single-dot
// elements are left out, the root is a dash, and ".." is refused.
func escapePath(path string) (cty.Value, error) {
	var elements []string
	for _, e := range strings.Split(path, "/") {
		switch e {
		case "", ".":
		case "..":
			return cty.NilVal, function.NewArgErrorf(0, "the path %q holds \"..\"", path)
		default:
			elements = append(elements, e)
		}
	}
	if len(elements) == 0 {
		return cty.StringVal("-"), nil
	}
	return cty.StringVal(escapeUnit(strings.Join(elements, "/"))), nil
}

// escapeUnit escapes the bytes that may not stand in a unit name, a leading
// dot, and the dash, which stands for a slash.
func escapeUnit(str string) string {
	var b strings.Builder
	for i := range len(str) {
		c := str[i]
		switch {
		case c == '/':
			b.WriteByte('-')
		case c == '.' && i == 0, !unitByte(c):
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unitByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == ':' || c == '_' || c == '.'
}

func semverMinor(args []string) (string, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(args[0], "v"))
	if err != nil {
		return "", function.NewArgErrorf(0, "%q is no semantic version: write MAJOR.MINOR.PATCH", args[0])
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()), nil
}
