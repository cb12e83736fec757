// Package functions holds the pure functions of the recipe language: the usual
// ones of HCL tools under Terraform's names, and a few that recipes for hosts
// need. A function depends on its arguments and on the files of the recipe
// alone: there is no clock, no randomness, no network and no command among
// them, so that the same inputs give the same recipe.
//
// Every function takes unknown values and marked ones. What is made from a
// sensitive value is sensitive, and an error about a sensitive argument does
// not show it.
package functions

import (
	"errors"
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// All returns the functions by name. Files are read through assets.
func All(assets block.Assets) map[string]function.Function {
	all := map[string]function.Function{}
	for _, family := range []map[string]function.Function{
		stringFunctions(), patternFunctions(), collectionFunctions(), sequenceFunctions(), setFunctions(),
		numberFunctions(), encodingFunctions(), hashFunctions(), typeFunctions(), networkFunctions(),
		dateFunctions(), hostFunctions(), fileFunctions(assets),
	} {
		maps.Copy(all, family)
	}
	for name, f := range all {
		all[name] = discreet(f)
	}
	all["nonsensitive"] = nonsensitive()
	all["try"], all["can"] = tryFunction(), canFunction()
	plain := maps.Clone(all)
	all["templatefile"], all["templatestring"] = discreet(templateFile(assets, plain)), discreet(templateString(plain))
	return all
}

// documented gives a function of a library our description and those of its
// parameters.
func documented(f function.Function, doc string, params ...string) function.Function {
	return f.WithNewDescriptions(doc, params)
}

// discreet wraps a function so that its errors show nothing of sensitive
// arguments, and a panic in it is an error without a stack trace.
func discreet(f function.Function) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, err := f.ReturnTypeForValues(args)
			if undecided(args, err) {
				return cty.DynamicPseudoType, nil
			}
			return ty, redact(args, err)
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			if err := writable(args); err != nil {
				return cty.NilVal, redact(args, err)
			}
			v, err := f.Call(args)
			if large := syntax.Bounded(v); err == nil && errors.Is(large, syntax.ErrEndless) {
				err = large // what else is too large is told where it is used
			}
			if undecided(args, err) {
				return keepMarks(cty.UnknownVal(ty), args), nil
			}
			if err != nil {
				return v, redact(args, err)
			}
			return keepMarks(v, args), nil
		},
	}
	for i := range spec.Params {
		permit(&spec.Params[i])
	}
	if spec.VarParam != nil {
		permit(spec.VarParam)
	}
	return function.New(spec)
}

// keepMarks gives a result that is not known yet the marks of all arguments:
// functions that look at marks themselves lose those of unknown arguments.
func keepMarks(v cty.Value, args []cty.Value) cty.Value {
	if v.IsKnown() {
		return v
	}
	for _, arg := range args {
		_, marks := arg.UnmarkDeep()
		v = v.WithMarks(marks)
	}
	return v
}

// permit leaves the decision about an argument to the function inside.
func permit(p *function.Parameter) {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
}

// undecided says that a function of the library panicked over arguments that
// are not known in full: the result is then not known either.
func undecided(args []cty.Value, err error) bool {
	if _, ok := errors.AsType[function.PanicError](err); !ok {
		return false
	}
	for _, arg := range args {
		if !arg.IsWhollyKnown() {
			return true
		}
	}
	return false
}

// redact makes an error fit to be shown, and blames the only argument if there
// is but one.
func redact(args []cty.Value, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[function.PanicError](err); ok {
		return errors.New("the result cannot be computed for these arguments")
	}
	for i, arg := range args {
		if !block.IsSensitive(arg) {
			continue
		}
		if at, ok := errors.AsType[function.ArgError](err); ok {
			i = at.Index
		}
		return function.NewArgErrorf(i, "the arguments are not accepted; no details are shown, because a sensitive value is among them")
	}
	if _, ok := errors.AsType[function.ArgError](err); !ok && len(args) == 1 {
		return function.NewArgError(0, err)
	}
	return err
}

// text is a function of strings to a string, documented by the caller.
func text(f func(args []string) (string, error), doc string, params ...function.Parameter) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      params,
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f(asStrings(args))
			return cty.StringVal(out), err
		},
	})
}

func asStrings(args []cty.Value) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = arg.AsString()
	}
	return out
}

// param is a parameter that takes a string.
func param(name, doc string) function.Parameter {
	return function.Parameter{Name: name, Description: doc, Type: cty.String}
}
