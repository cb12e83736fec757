package functions

import (
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"hostler/interpreter/syntax"
)

func sequenceFunctions() map[string]function.Function {
	return map[string]function.Function{
		"alltrue":      bools(true, "Says whether all elements of a list are true; an empty list gives true."),
		"anytrue":      bools(false, "Says whether any element of a list is true; an empty list gives false."),
		"chunklist":    documented(stdlib.ChunklistFunc, "Cuts a list into lists of a size; the last may be shorter.", aList, "The size; 0 gives one list."),
		"coalescelist": documented(stdlib.CoalesceListFunc, "Returns the first of some lists that is not empty.", "The lists, the preferred one first."),
		"compact":      documented(stdlib.CompactFunc, "Removes null and empty strings from a list of strings.", aList),
		"concat":       documented(stdlib.ConcatFunc, "Joins lists to one.", "The lists."),
		"distinct":     documented(stdlib.DistinctFunc, "Removes the repetitions of values from a list.", aList),
		"element": documented(stdlib.ElementFunc, "Returns an element of a list by its number; past the end it begins again.",
			aList, "The number, from 0; negative counts from the end."),
		"flatten": documented(stdlib.FlattenFunc, "Puts the elements of lists in a list in the place of those lists.", aList),
		"index":   index(),
		"one":     one(),
		"range": documented(stdlib.RangeFunc, "Returns a list of numbers: up to a limit, from a start to a limit, or by a step.",
			"The limit; or start and limit; or start, limit and step."),
		"reverse": documented(stdlib.ReverseListFunc, "Reverses a list.", aList),
		"slice": documented(stdlib.SliceFunc, "Returns a part of a list.", aList,
			"The number of the first element, from 0.", "The number after that of the last element."),
		"sort": documented(stdlib.SortFunc, "Sorts a list of strings by their characters.", aList),
		"sum":  sum(),
	}
}

// sequence is a parameter that takes lists, sets and tuples.
func sequence(name, doc string) function.Parameter {
	return function.Parameter{Name: name, Description: doc, Type: cty.DynamicPseudoType}
}

func isSequence(ty cty.Type) bool { return ty.IsListType() || ty.IsSetType() || ty.IsTupleType() }

// bools combines bools: by "and" when all must be true, else by "or".
func bools(all bool, doc string) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{{Name: "list", Description: "The list of bools.", Type: cty.List(cty.Bool)}},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				switch {
				case !v.IsKnown():
					unknown = true
				case v.IsNull() && all:
					return cty.False, nil
				case !v.IsNull() && v.True() != all:
					return cty.BoolVal(!all), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(all), nil
		},
	})
}

func index() function.Function {
	return function.New(&function.Spec{
		Description: "Returns the number of the first element of a list that equals a value.",
		Params: []function.Parameter{sequence("list", aList),
			{Name: "value", Description: aValue, Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := args[0].Type(); !ty.IsListType() && !ty.IsTupleType() {
				return cty.NilType, function.NewArgErrorf(0, "must be a list, not a %s", ty.FriendlyName())
			}
			return cty.Number, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			n := int64(0)
			for it := args[0].ElementIterator(); it.Next(); n++ {
				_, v := it.Element()
				equal := v.Equals(args[1])
				if !equal.IsKnown() {
					return cty.UnknownVal(cty.Number), nil
				}
				if equal.True() {
					return cty.NumberIntVal(n), nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "the list does not hold this value")
		},
	})
}

func one() function.Function {
	return function.New(&function.Spec{
		Description: "Returns the only element of a list or set, or null if it is empty; more are an error.",
		Params:      []function.Parameter{sequence("list", "The list or set.")},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty.IsListType() || ty.IsSetType():
				return ty.ElementType(), nil
			case !ty.IsTupleType():
				return cty.NilType, function.NewArgErrorf(0, "must be a list or set, not a %s", ty.FriendlyName())
			}
			switch types := ty.TupleElementTypes(); len(types) {
			case 0:
				return cty.DynamicPseudoType, nil
			case 1:
				return types[0], nil
			default:
				return cty.NilType, function.NewArgErrorf(0, "has %d elements, not one or none", len(types))
			}
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			length := args[0].Length()
			if !length.IsKnown() { // a set with unknown elements
				return cty.UnknownVal(ty), nil
			}
			switch args[0].LengthInt() {
			case 0:
				return cty.NullVal(ty), nil
			case 1:
				it := args[0].ElementIterator()
				it.Next()
				_, v := it.Element()
				return v, nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "has %d elements, not one or none", args[0].LengthInt())
		},
	})
}

func sum() function.Function {
	return function.New(&function.Spec{
		Description: "Adds the numbers of a list or set.",
		Params:      []function.Parameter{sequence("list", "The list or set of numbers, not empty.")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := args[0].Type(); !isSequence(ty) {
				return cty.NilType, function.NewArgErrorf(0, "must be a list or set of numbers, not a %s", ty.FriendlyName())
			}
			return cty.Number, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if args[0].LengthInt() == 0 {
				return cty.NilVal, function.NewArgErrorf(0, "is empty; there is nothing to add")
			}
			total := cty.Zero
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				n, err := convert.Convert(v, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "holds something that is no number")
				}
				if err := syntax.Bounded(n); err != nil {
					return cty.NilVal, function.NewArgError(0, err)
				}
				total = total.Add(n)
			}
			return total, nil
		},
	})
}

// stringsOf returns the strings of a known list without nulls.
func stringsOf(list cty.Value) ([]string, error) {
	if list.IsNull() {
		return nil, errors.New("the list is null")
	}
	var out []string
	for it := list.ElementIterator(); it.Next(); {
		_, v := it.Element()
		if v.IsNull() {
			return nil, errors.New("the list holds a null")
		}
		out = append(out, v.AsString())
	}
	return out, nil
}

func transpose(in map[string][]string) map[string][]string {
	out := map[string][]string{}
	for key, words := range in {
		for _, w := range words {
			out[w] = append(out[w], key)
		}
	}
	for w, keys := range out {
		slices.Sort(keys)
		out[w] = slices.Compact(keys)
	}
	return out
}

func mapValue(in map[string][]string) cty.Value {
	if len(in) == 0 {
		return cty.MapValEmpty(cty.List(cty.String))
	}
	out := map[string]cty.Value{}
	for key, words := range in {
		list := make([]cty.Value, len(words))
		for i, w := range words {
			list[i] = cty.StringVal(w)
		}
		out[key] = cty.ListVal(list)
	}
	return cty.MapVal(out)
}
