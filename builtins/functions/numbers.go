package functions

import (
	"math"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"hostler/interpreter/syntax"
)

const aNumber = "The number."

func numberFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":   documented(stdlib.AbsoluteFunc, "Returns a number without its sign.", aNumber),
		"ceil":  documented(stdlib.CeilFunc, "Rounds a number up to a whole one.", aNumber),
		"floor": documented(stdlib.FloorFunc, "Rounds a number down to a whole one.", aNumber),
		"log":   real(logarithm, "Returns the logarithm of a number to a base.", numeral("base", "The base.")),
		"max":   documented(stdlib.MaxFunc, "Returns the greatest of some numbers.", "One or more numbers."),
		"min":   documented(stdlib.MinFunc, "Returns the least of some numbers.", "One or more numbers."),
		"parseint": documented(stdlib.ParseIntFunc, "Reads a whole number in a base.",
			"The digits, with a sign before them if need be.", "The base, from 2 to 62."),
		"pow":    real(math.Pow, "Raises a number to a power.", numeral("power", "The power.")),
		"signum": documented(stdlib.SignumFunc, "Returns -1, 0 or 1 for a number below, at or above zero.", aNumber),
	}
}

func logarithm(num, base float64) float64 { return math.Log(num) / math.Log(base) }

// writable says whether the numbers among some arguments are such that can be
// written out: those that were made from texts need not be.
func writable(args []cty.Value) error {
	for i, arg := range args {
		if arg.Type() != cty.Number {
			continue
		}
		if err := syntax.Bounded(arg); err != nil {
			return function.NewArgError(i, err)
		}
	}
	return nil
}

// numeral is a parameter that takes a number.
func numeral(name, doc string) function.Parameter {
	return function.Parameter{Name: name, Description: doc, Type: cty.Number}
}

// real is a function of two numbers in floating point.
func real(f func(a, b float64) float64, doc string, second function.Parameter) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{numeral("num", aNumber), second},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			x, _ := args[0].AsBigFloat().Float64()
			y, _ := args[1].AsBigFloat().Float64()
			out := f(x, y)
			if math.IsNaN(out) || math.IsInf(out, 0) {
				return cty.NilVal, function.NewArgErrorf(0, "the result is no number")
			}
			return cty.NumberFloatVal(out), nil
		},
	})
}
