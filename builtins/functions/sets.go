package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func setFunctions() map[string]function.Function {
	return map[string]function.Function{
		"matchkeys": matchKeys(),
		"setintersection": documented(stdlib.SetIntersectionFunc, "Returns the values that are in all of some sets.",
			"The first set.", "The others."),
		"setproduct": product(),
		"setsubtract": documented(stdlib.SetSubtractFunc, "Returns the values of a set that are not in another.",
			"The set.", "The values to leave out."),
		"setsymmetricdifference": documented(stdlib.SetSymmetricDifferenceFunc, "Returns the values that are in one of some sets and not in another.",
			"The first set.", "The others."),
		"setunion": documented(stdlib.SetUnionFunc, "Returns the values that are in any of some sets.",
			"The first set.", "The others."),
	}
}

// product is setproduct, within bounds.
func product() function.Function {
	f := documented(stdlib.SetProductFunc, "Returns all combinations of one element of each of some lists or sets.", "The lists or sets.")
	return function.New(&function.Spec{
		Description: f.Description(),
		VarParam:    passedVar(f.VarParam()),
		Type:        f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			plain := make([]cty.Value, len(args))
			for i, arg := range args {
				if plain[i], _ = arg.UnmarkDeep(); !plain[i].IsKnown() {
					return f.Call(args)
				}
			}
			if err := boundProduct(plain); err != nil {
				return cty.NilVal, err
			}
			return f.Call(args)
		},
	})
}

func matchKeys() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Description: "Returns the values whose keys, at the same place in another list, are in a third list.",
		Params: []function.Parameter{
			{Name: "values", Description: "The values.", Type: list},
			{Name: "keys", Description: "The keys, as many.", Type: list},
			{Name: "searchset", Description: "The keys wanted.", Type: list},
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); ty == cty.NilType {
				return cty.NilType, function.NewArgErrorf(2, "must hold values of the type of the keys")
			}
			return args[0].Type(), nil
		},
		Impl: matchingValues,
	})
}

func matchingValues(args []cty.Value, ty cty.Type) (cty.Value, error) {
	values, keys := args[0], args[1]
	if !values.IsWhollyKnown() || !keys.IsWhollyKnown() || !args[2].IsWhollyKnown() {
		return cty.UnknownVal(ty), nil
	}
	if values.LengthInt() != keys.LengthInt() {
		return cty.NilVal, function.NewArgErrorf(1, "there are %d keys for %d values", keys.LengthInt(), values.LengthInt())
	}
	var out []cty.Value
	for it := keys.ElementIterator(); it.Next(); {
		n, key := it.Element()
		if wanted(key, args[2]) {
			out = append(out, values.Index(n))
		}
	}
	if len(out) == 0 {
		return cty.ListValEmpty(ty.ElementType()), nil
	}
	return cty.ListVal(out), nil
}

func wanted(key, set cty.Value) bool {
	for it := set.ElementIterator(); it.Next(); {
		_, v := it.Element()
		if v.RawEquals(key) {
			return true
		}
	}
	return false
}
