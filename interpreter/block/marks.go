package block

import "github.com/zclconf/go-cty/cty"

// mark is the type of the marks that values carry.
type mark string

// Sensitive is the mark of values that must never be shown or stored. It flows
// through every expression and function to what is made from them.
const Sensitive mark = "sensitive"

// MarkSensitive returns the value with the mark on all of it.
func MarkSensitive(v cty.Value) cty.Value { return v.Mark(Sensitive) }

// IsSensitive says whether the value, or anything in it, is sensitive.
func IsSensitive(v cty.Value) bool { return v.HasMarkDeep(Sensitive) }
