package functions

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"hostler/interpreter/block"
)

const aValue = "The value."

func typeFunctions() map[string]function.Function {
	to := func(ty cty.Type, doc string) function.Function {
		return documented(stdlib.MakeToFunc(ty), doc, aValue)
	}
	return map[string]function.Function{
		"tostring":    to(cty.String, "Converts a number or bool to a string."),
		"tonumber":    to(cty.Number, "Converts a string of digits to a number."),
		"tobool":      to(cty.Bool, "Converts \"true\" or \"false\" to a bool."),
		"tolist":      to(cty.List(cty.DynamicPseudoType), "Converts a sequence or set to a list, whose elements have one type."),
		"toset":       to(cty.Set(cty.DynamicPseudoType), "Converts a sequence to a set: without order, each value once."),
		"tomap":       to(cty.Map(cty.DynamicPseudoType), "Converts an object to a map, whose values have one type."),
		"type":        typeOf(),
		"sensitive":   sensitive(),
		"issensitive": isSensitive(),
	}
}

// anyValue is a parameter that takes every value there is.
func anyValue(name, doc string) function.Parameter {
	p := function.Parameter{Name: name, Description: doc, Type: cty.DynamicPseudoType}
	permit(&p)
	return p
}

func typeOf() function.Function {
	return function.New(&function.Spec{
		Description: "Returns the type of a value as it is written in a recipe, such as list(string).",
		Params:      []function.Parameter{anyValue("value", aValue)},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			ty := args[0].Type()
			if ty == cty.DynamicPseudoType && !args[0].IsKnown() {
				return cty.UnknownVal(cty.String).WithSameMarks(args[0]), nil
			}
			return cty.StringVal(typeexpr.TypeString(ty)), nil
		},
	})
}

func sensitive() function.Function {
	return function.New(&function.Spec{
		Description: "Makes a value sensitive: it is not shown and not stored.",
		Params:      []function.Parameter{anyValue("value", aValue)},
		Type:        func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return block.MarkSensitive(args[0]), nil
		},
	})
}

func nonsensitive() function.Function {
	return function.New(&function.Spec{
		Description: "Makes a value no longer sensitive: it may then be shown and stored. Use it only for what gives no secret away.",
		Params:      []function.Parameter{anyValue("value", aValue)},
		Type:        func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, paths := args[0].UnmarkDeepWithPaths()
			for _, p := range paths {
				delete(p.Marks, block.Sensitive)
			}
			return v.MarkWithPaths(paths), nil
		},
	})
}

func isSensitive() function.Function {
	return function.New(&function.Spec{
		Description: "Says whether a value, or anything in it, is sensitive.",
		Params:      []function.Parameter{anyValue("value", aValue)},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			switch {
			case block.IsSensitive(args[0]):
				return cty.True, nil
			case !args[0].IsWhollyKnown():
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.False, nil
		},
	})
}

func tryFunction() function.Function {
	return documented(tryfunc.TryFunc, "Returns the first of some expressions that can be evaluated.",
		"The expressions, the preferred one first.")
}

func canFunction() function.Function {
	return documented(tryfunc.CanFunc, "Says whether an expression can be evaluated.", "The expression.")
}
