package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

const (
	aMap  = "The map or object."
	aList = "The list."
)

func collectionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"coalesce":  coalesce(),
		"contains":  documented(stdlib.ContainsFunc, "Says whether a list or set holds a value.", "The list or set.", aValue),
		"deepmerge": deepMerge(),
		"keys":      documented(stdlib.KeysFunc, "Returns the keys of a map or object as a list, in order.", aMap),
		"length":    length(),
		"lookup":    lookup(),
		"merge":     documented(stdlib.MergeFunc, "Merges maps or objects to one; the last one that holds a key wins.", "The maps or objects."),
		"transpose": mapOfLists(transpose,
			"Turns a map of lists of strings round: each string becomes a key, with the keys it was found under."),
		"values": documented(stdlib.ValuesFunc, "Returns the values of a map or object as a list, in the order of the keys.", aMap),
		"zipmap": documented(stdlib.ZipmapFunc, "Makes a map of a list of keys and a list of values.", "The keys.", "The values, as many."),
	}
}

func length() function.Function {
	return function.New(&function.Spec{
		Description: "Returns how many elements a collection or object has, or how many characters a string.",
		Params: []function.Parameter{{
			Name: "value", Description: "The collection, object or string.", Type: cty.DynamicPseudoType,
			AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
		}},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			if ty == cty.String || ty == cty.DynamicPseudoType || ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType() {
				return cty.Number, nil
			}
			return cty.NilType, function.NewArgErrorf(0, "a %s has no length", ty.FriendlyName())
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return lengthOf(args[0]) },
	})
}

func lengthOf(v cty.Value) (cty.Value, error) {
	ty := v.Type()
	switch {
	case ty == cty.DynamicPseudoType:
		return cty.UnknownVal(cty.Number).WithSameMarks(v), nil
	case ty == cty.String:
		return stdlib.Strlen(v)
	case ty.IsObjectType():
		return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithSameMarks(v), nil
	}
	return v.Length(), nil
}

func lookup() function.Function {
	fallback := anyValue("default", "The value if there is no such key; without it that is an error.")
	fallback.AllowNull = true
	params := []function.Parameter{
		{Name: "map", Description: aMap, Type: cty.DynamicPseudoType, AllowMarked: true},
		{Name: "key", Description: "The key.", Type: cty.String, AllowMarked: true},
	}
	return function.New(&function.Spec{
		Description: "Returns the value of a key of a map or object, or a default.",
		Params:      params,
		VarParam:    &fallback,
		Type: func(args []cty.Value) (cty.Type, error) {
			switch {
			case len(args) == 2:
				return lookupType(args)
			case len(args) == 3 && orNull(args):
				if absent(args) {
					return cty.DynamicPseudoType, nil
				}
				return lookupType(args)
			case len(args) == 3:
				return stdlib.LookupFunc.ReturnTypeForValues(args)
			}
			return cty.NilType, function.NewArgErrorf(3, "only one default is taken")
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			switch {
			case len(args) == 3 && !orNull(args):
				return stdlib.LookupFunc.Call(args)
			case absent(args) && orNull(args):
				return cty.NullVal(ty).WithSameMarks(args...), nil
			}
			return lookupKey(args, ty)
		},
	})
}

// orNull says whether a look-up has null as its default.
func orNull(args []cty.Value) bool {
	if len(args) < 3 {
		return false
	}
	fallback, _ := args[2].Unmark()
	return fallback.IsKnown() && fallback.IsNull()
}

// absent says that a map or object, which is known, has no such key.
func absent(args []cty.Value) bool {
	from, _ := args[0].Unmark()
	key, _ := args[1].Unmark()
	switch ty := from.Type(); {
	case !key.IsKnown():
		return false
	case ty.IsObjectType():
		return !ty.HasAttribute(key.AsString())
	case ty.IsMapType() && from.IsKnown():
		return from.HasIndex(key).RawEquals(cty.False)
	}
	return false
}

// lookupType is the type of a look-up without a default.
func lookupType(args []cty.Value) (cty.Type, error) {
	ty := args[0].Type()
	key, _ := args[1].Unmark()
	switch {
	case ty.IsMapType():
		return ty.ElementType(), nil
	case !ty.IsObjectType():
		return cty.NilType, function.NewArgErrorf(0, "must be a map or object")
	case !key.IsKnown():
		return cty.DynamicPseudoType, nil
	case !ty.HasAttribute(key.AsString()):
		return cty.NilType, function.NewArgErrorf(1, "there is no attribute %q", key.AsString())
	}
	return ty.AttributeType(key.AsString()), nil
}

func lookupKey(args []cty.Value, ty cty.Type) (cty.Value, error) {
	from, fromMarks := args[0].Unmark()
	key, keyMarks := args[1].Unmark()
	if from.Type().IsObjectType() {
		return from.GetAttr(key.AsString()).WithMarks(fromMarks, keyMarks), nil
	}
	has := from.HasIndex(key)
	if !has.IsKnown() {
		return cty.UnknownVal(ty).WithMarks(fromMarks, keyMarks), nil
	}
	if has.False() {
		return cty.NilVal, function.NewArgErrorf(1, "there is no key %q, and no default is given", key.AsString())
	}
	return from.Index(key).WithMarks(fromMarks, keyMarks), nil
}

func coalesce() function.Function {
	vals := anyValue("vals", "The values, the preferred one first.")
	vals.AllowMarked = false
	return function.New(&function.Spec{
		Description: "Returns the first of some values that is neither null nor an empty string.",
		VarParam:    &vals,
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, arg := range args {
				types[i] = arg.Type()
			}
			ty, _ := convert.UnifyUnsafe(types)
			if ty == cty.NilType {
				return cty.NilType, function.NewArgErrorf(0, "the values must have one type, and there must be at least one")
			}
			return ty, nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			for i, arg := range args {
				v, err := convert.Convert(arg, ty)
				switch {
				case err != nil:
					return cty.NilVal, function.NewArgError(i, err)
				case !v.IsKnown():
					return cty.UnknownVal(ty), nil
				case !v.IsNull() && !v.RawEquals(cty.StringVal("")):
					return v, nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(len(args)-1, "all values are null or empty")
		},
	})
}

// mapOfLists is a function of a map of lists of strings to another.
func mapOfLists(f func(map[string][]string) map[string][]string, doc string) function.Function {
	ty := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{{Name: "values", Description: "The map of lists of strings.", Type: ty}},
		Type:        function.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(ty), nil
			}
			in := map[string][]string{}
			for it := args[0].ElementIterator(); it.Next(); {
				key, list := it.Element()
				words, err := stringsOf(list)
				if err != nil {
					return cty.NilVal, function.NewArgErrorf(0, "key %q: %v", key.AsString(), err)
				}
				in[key.AsString()] = words
			}
			return mapValue(f(in)), nil
		},
	})
}
