package functions

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

const (
	aText   = "The text."
	aFormat = "The format: a text with verbs such as %s, %d, %q, %v and %%."
	// maxWidth bounds the blanks and zeros that one call can make.
	maxWidth = 10000
)

func stringFunctions() map[string]function.Function {
	return map[string]function.Function{
		"chomp":      documented(stdlib.ChompFunc, "Removes newlines from the end of a text.", aText),
		"endswith":   test(strings.HasSuffix, "Says whether a text ends with another.", "suffix", "The end to look for."),
		"format":     format(),
		"formatlist": formatList(),
		"indent":     indent(),
		"join": bound(documented(stdlib.JoinFunc, "Joins the strings of lists to one text.",
			"What to put between them.", "One or more lists of strings."), boundJoin),
		"lower": documented(stdlib.LowerFunc, "Makes all letters small.", aText),
		"split": documented(stdlib.SplitFunc, "Cuts a text into a list of strings at a separator.",
			"The separator; it is left out.", aText),
		"startswith":  test(strings.HasPrefix, "Says whether a text begins with another.", "prefix", "The beginning to look for."),
		"strcontains": test(strings.Contains, "Says whether a text holds another.", "substr", "The part to look for."),
		"strrev":      documented(stdlib.ReverseFunc, "Reverses the characters of a text.", aText),
		"substr": documented(stdlib.SubstrFunc, "Cuts a part out of a text, counted in characters.", aText,
			"Where it begins; negative counts from the end.", "How long it is; -1 means up to the end."),
		"title": documented(stdlib.TitleFunc, "Makes the first letter of every word a capital.", aText),
		"trim": documented(stdlib.TrimFunc, "Removes characters from both ends of a text.", aText,
			"The characters to remove, in any order."),
		"trimprefix": documented(stdlib.TrimPrefixFunc, "Removes a beginning from a text, if it is there.", aText, "The beginning."),
		"trimsuffix": documented(stdlib.TrimSuffixFunc, "Removes an end from a text, if it is there.", aText, "The end."),
		"trimspace":  documented(stdlib.TrimSpaceFunc, "Removes blanks and newlines from both ends of a text.", aText),
		"upper":      documented(stdlib.UpperFunc, "Makes all letters capitals.", aText),
	}
}

// test is a yes-or-no question about a text and a part.
func test(f func(text, part string) bool, doc, part, partDoc string) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{param("str", aText), param(part, partDoc)},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

func format() function.Function {
	doc := "Puts values into a text by a format."
	return guardFormat(documented(stdlib.FormatFunc, doc, aFormat, "The values, in the order of the verbs."))
}

func formatList() function.Function {
	doc := "Formats once for each element of lists of the same length; values that are no lists are used every time."
	return bound(guardFormat(documented(stdlib.FormatListFunc, doc, aFormat, "The values or lists, in the order of the verbs.")), boundFormatList)
}

// guardFormat refuses widths that would fill the memory.
func guardFormat(f function.Function) function.Function {
	return checked(f, func(args []cty.Value) error {
		digits := 0
		for _, c := range args[0].AsString() {
			if c < '0' || c > '9' {
				digits = 0
				continue
			}
			if digits++; digits > len("9999") {
				return function.NewArgErrorf(0, "a number in the format has more than four digits")
			}
		}
		return nil
	})
}

func indent() function.Function {
	f := documented(stdlib.IndentFunc, "Puts blanks before every line of a text but the first.", "How many blanks.", aText)
	return checked(f, func(args []cty.Value) error {
		n, exact := args[0].AsBigFloat().Int64()
		if exact != 0 || n < 0 || n > maxWidth {
			return function.NewArgErrorf(0, "must be a whole number from 0 to %d", maxWidth)
		}
		return nil
	})
}

// checked calls check before f when the first argument is known; check gets
// arguments without marks.
func checked(f function.Function, check func(args []cty.Value) error) function.Function {
	first := f.Params()[0]
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      passed(f.Params()),
		VarParam:    passedVar(f.VarParam()),
		Type: func(args []cty.Value) (cty.Type, error) {
			plain, _ := args[0].UnmarkDeep()
			if plain.IsKnown() && !plain.IsNull() && plain.Type().Equals(first.Type) {
				if err := check(append([]cty.Value{plain}, args[1:]...)); err != nil {
					return cty.NilType, err
				}
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	})
}

func passed(params []function.Parameter) []function.Parameter {
	for i := range params {
		permit(&params[i])
	}
	return params
}

func passedVar(p *function.Parameter) *function.Parameter {
	if p != nil {
		permit(p)
	}
	return p
}
