package functions

import (
	"bytes"
	"fmt"

	"github.com/BurntSushi/toml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func tomlEncode() function.Function {
	return function.New(&function.Spec{
		Description: "Writes an object or map as a TOML document, keys in order. Attributes that are null are left out, since TOML has no null.",
		Params: []function.Parameter{{
			Name: "value", Description: "The object or map.", Type: cty.DynamicPseudoType,
			AllowDynamicType: true,
		}},
		Type: tomlType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(cty.String), nil
			}
			document, err := tomlValue(args[0], "the document")
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			var b bytes.Buffer
			encoder := toml.NewEncoder(&b)
			encoder.Indent = ""
			if err := encoder.Encode(document); err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(b.String()), nil
		},
	})
}

func tomlType(args []cty.Value) (cty.Type, error) {
	if ty := args[0].Type(); ty != cty.DynamicPseudoType && !ty.IsObjectType() && !ty.IsMapType() {
		return cty.NilType, function.NewArgErrorf(0, "a TOML document is an object or a map, not a %s", ty.FriendlyName())
	}
	return cty.String, nil
}

// tomlValue turns a known value into what the encoder takes. where names it in
// errors.
func tomlValue(v cty.Value, where string) (any, error) {
	ty := v.Type()
	switch {
	case v.IsNull():
		return nil, fmt.Errorf("%s is null, which TOML cannot write in a list", where)
	case ty == cty.String:
		return v.AsString(), nil
	case ty == cty.Bool:
		return v.True(), nil
	case ty == cty.Number:
		return tomlNumber(v, where)
	case ty.IsObjectType() || ty.IsMapType():
		return tomlTable(v, where)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		return tomlArray(v, where)
	}
	return nil, fmt.Errorf("%s is a %s, which TOML cannot write", where, ty.FriendlyName())
}

// tomlNumber writes whole numbers as integers.
func tomlNumber(v cty.Value, where string) (any, error) {
	f := v.AsBigFloat()
	if f.IsInt() {
		if n, exact := f.Int64(); exact == 0 {
			return n, nil
		}
		return nil, fmt.Errorf("%s is a whole number too large for TOML", where)
	}
	n, _ := f.Float64()
	if f.IsInf() || n == 0 {
		return nil, fmt.Errorf("%s is a number that TOML cannot write", where)
	}
	return n, nil
}

func tomlTable(v cty.Value, where string) (any, error) {
	table := map[string]any{}
	for it := v.ElementIterator(); it.Next(); {
		key, val := it.Element()
		if val.IsNull() {
			continue
		}
		name := key.AsString()
		out, err := tomlValue(val, fmt.Sprintf("%s, key %q", where, name))
		if err != nil {
			return nil, err
		}
		table[name] = out
	}
	return table, nil
}

func tomlArray(v cty.Value, where string) (any, error) {
	array := []any{}
	for it := v.ElementIterator(); it.Next(); {
		_, val := it.Element()
		out, err := tomlValue(val, fmt.Sprintf("%s, element %d", where, len(array)))
		if err != nil {
			return nil, err
		}
		array = append(array, out)
	}
	return array, nil
}
