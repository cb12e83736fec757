package block

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// The presets below make attributes of the kinds that many block types share.
// Each brings its type, grammar and check; the caller adds the documentation
// with [Attr.Says] and marks it with [Attr.Must], [Attr.Names] or
// [Attr.MaySecret].

// Says returns the attribute with its documentation.
func (a Attr) Says(doc string) Attr { a.Doc = doc; return a }

// Must returns the attribute as a required one.
func (a Attr) Must() Attr { a.Required = true; return a }

// Names returns the attribute as one that an owned name comes from.
func (a Attr) Names() Attr { a.Owned = true; return a }

// MaySecret returns the attribute as one where a sensitive value is legal.
func (a Attr) MaySecret() Attr { a.Sensitive = true; return a }

// Starts says that the argument starts or stops something.
func (a Attr) Starts() Attr { a.Runs = true; return a }

// Labels returns a copy whose value must be the label of a step of that type in
// the recipe.
func (a Attr) Labels(typ string) Attr { a.LabelOf = typ; return a }

// Text is a string of any content but NUL.
func Text(name string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: "string", Check: onString(checkNUL)}
}

// Switch is a bool with a default.
func Switch(name string, def bool) Attr {
	return Attr{Name: name, Type: cty.Bool, Default: cty.BoolVal(def), Grammar: "bool"}
}

// Count is a whole number from min on, without a default.
func Count(name string, min int64) Attr {
	return Attr{Name: name, Type: cty.Number, Grammar: "whole number", Check: func(v cty.Value) error {
		n, acc := v.AsBigFloat().Int64()
		if acc != big.Exact || n < min {
			return Advicef("Write a whole number, %d or more.", min)
		}
		return nil
	}}
}

// Choice is a string out of a list; def "" means that it has no default.
func Choice(name, def string, values ...string) Attr {
	a := Attr{Name: name, Type: cty.String, OneOf: values, Grammar: "one of " + strings.Join(values, ", ")}
	a.Default = textOrNil(def)
	a.Check = onString(func(s string) error {
		for _, v := range values {
			if s == v {
				return nil
			}
		}
		return Advicef("%q is none of the values; write one of %s.", s, quoted(values))
	})
	return a
}

// Mode is a file mode; def "" means that it has no default.
func Mode(name, def string) Attr {
	return Attr{Name: name, Type: cty.String, Default: textOrNil(def), Grammar: "mode", Check: onString(func(s string) error {
		_, err := ParseMode(s)
		return err
	})}
}

// Duration is a duration; def "" means that it has no default.
func Duration(name, def string) Attr {
	return Attr{Name: name, Type: cty.String, Default: textOrNil(def), Grammar: "duration", Check: onString(func(s string) error {
		_, err := ParseDuration(s)
		return err
	})}
}

// AbsPath is an absolute, clean path on the host.
func AbsPath(name string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: "absolute path", Check: onString(CheckPath)}
}

// Argv is a command line as a list: the program, then its arguments.
func Argv(name string) Attr {
	return Attr{Name: name, Type: cty.List(cty.String), Grammar: "argv", Check: func(v cty.Value) error {
		args, err := listOf(v)
		if err != nil {
			return err
		}
		return CheckArgv(args)
	}}
}

// Texts is a list of non-empty strings.
func Texts(name string) Attr {
	return Attr{Name: name, Type: cty.List(cty.String), Grammar: "list of strings", Check: func(v cty.Value) error {
		list, err := listOf(v)
		for _, s := range list {
			if s == "" {
				return Advicef("Leave out the empty string in the list.")
			}
			err = errors.Join(err, checkNUL(s))
		}
		return err
	}}
}

// Owner is a user: a name in the host's /etc/passwd or a number. Without one
// it is root.
func Owner(name string) Attr { return account(name, "user") }

// Group is a group: a name in the host's /etc/group or a number. Without one
// it is root.
func Group(name string) Attr { return account(name, "group") }

var accountName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\$?$`)

func account(name, kind string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: kind, Check: onString(func(s string) error {
		if !accountName.MatchString(s) {
			return Advicef("%q is no %s name; write a name such as \"root\" or a number such as \"1000\".", s, kind)
		}
		return nil
	})}
}

// UnitName is the full name of a systemd unit.
func UnitName(name string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: "unit name", Check: onString(CheckUnitName)}
}

// URL is an http or https URL with a host and without a password in it.
func URL(name string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: "URL", Check: onString(checkURL)}
}

// Base64 is bytes in standard base64; blanks and line ends in it are left out.
func Base64(name string) Attr {
	return Attr{Name: name, Type: cty.String, Grammar: "base64", Convert: canonicalBase64}
}

func onString(check func(string) error) func(cty.Value) error {
	return func(v cty.Value) error { return check(v.AsString()) }
}

func listOf(v cty.Value) ([]string, error) {
	var list []string
	for _, e := range v.AsValueSlice() {
		if e.IsNull() {
			return nil, Advicef("Leave out the null in the list.")
		}
		if !e.IsKnown() {
			continue
		}
		list = append(list, e.AsString())
	}
	return list, nil
}

func textOrNil(s string) cty.Value {
	if s == "" {
		return cty.NilVal
	}
	return cty.StringVal(s)
}

func quoted(values []string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = strconv.Quote(v)
	}
	return strings.Join(list, ", ")
}
