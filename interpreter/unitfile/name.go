package unitfile

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// MaxName is the longest name of a unit, in bytes.
const MaxName = 255

const (
	nameAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\"
	unitTypes    = " service socket target device mount automount swap timer path slice scope "
)

// Name is the name of a unit, taken apart: "getty@tty1.service" has the Prefix
// "getty", the Instance "tty1" and the Type "service".
type Name struct {
	Prefix, Instance, Type string
	// Template is true for a name with an empty instance, "getty@.service".
	Template bool
}

// ParseName takes a unit's name apart and says what is wrong with it.
func ParseName(name string) (Name, error) {
	dot := strings.LastIndexByte(name, '.')
	switch {
	case name == "":
		return Name{}, errors.New("a unit name is empty")
	case len(name) > MaxName:
		return Name{}, fmt.Errorf("unit name %q is %d bytes long; %d is the most", clip(name), len(name), MaxName)
	case dot < 0 || !IsType(name[dot+1:]):
		return Name{}, fmt.Errorf("unit name %q does not end in a unit type; write for example %q", clip(name), clip(name)+".service")
	case dot == 0:
		return Name{}, fmt.Errorf("unit name %q has nothing before its type", name)
	}
	for _, c := range []byte(name) {
		if c != '@' && strings.IndexByte(nameAlphabet, c) < 0 {
			return Name{}, fmt.Errorf("unit name %q has a character that systemd does not take; write letters, digits and : - _ . \\ @, and escape others as systemd-escape does", clip(name))
		}
	}
	n := Name{Prefix: name[:dot], Type: name[dot+1:]}
	prefix, instance, has := strings.Cut(n.Prefix, "@")
	if !has {
		return n, nil
	}
	if prefix == "" {
		return Name{}, fmt.Errorf("unit name %q has nothing before the @", name)
	}
	n.Prefix, n.Instance, n.Template = prefix, instance, instance == ""
	return n, nil
}

// IsType says whether s is a type of unit, "service" and so on.
func IsType(s string) bool { return s != "" && strings.Contains(unitTypes, " "+s+" ") }

// String puts the name together again.
func (n Name) String() string {
	if n.Template || n.Instance != "" {
		return n.Prefix + "@" + n.Instance + "." + n.Type
	}
	return n.Prefix + "." + n.Type
}

// IsInstance says whether the name is that of an instance of a template.
func (n Name) IsInstance() bool { return n.Instance != "" }

// Of is the template's instance.
func (n Name) Of(instance string) Name {
	return Name{Prefix: n.Prefix, Instance: instance, Type: n.Type, Template: instance == ""}
}

// TemplateName is the name of the template of an instance.
func (n Name) TemplateName() Name { return n.Of("") }

// Escape makes any string usable inside a unit name, as systemd-escape does.
func Escape(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		switch {
		case c == '/':
			b.WriteByte('-')
		case c == '-' || c == '\\' || strings.IndexByte(nameAlphabet, c) < 0 || c == '.' && i == 0:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// EscapePath makes an absolute path usable as a unit name, as
// `systemd-escape --path` does: slashes at the ends go, the root is "-".
func EscapePath(p string) (string, error) {
	if !path.IsAbs(p) || strings.Contains("/"+p+"/", "/../") {
		return "", fmt.Errorf("%q is no absolute path without \"..\"", clip(p))
	}
	p = strings.Trim(path.Clean(p), "/")
	if p == "" {
		return "-", nil
	}
	return Escape(p), nil
}
