package functions

import (
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"

	"hostler/interpreter/syntax"
)

// errTooLarge is what a function returns whose result would be larger than any
// value may be.
var errTooLarge = errors.New("the result would be larger than any value may be")

// bounded says whether n times a size stays below the largest value.
func bounded(n, size int) error {
	if n > 0 && size > 0 && n > syntax.MaxValue/size {
		return errTooLarge
	}
	return nil
}

// bound calls check before f, where all arguments are known.
func bound(f function.Function, check func(args []cty.Value) error) function.Function {
	return checked(f, func(args []cty.Value) error {
		plain := make([]cty.Value, len(args))
		for i, arg := range args {
			if plain[i], _ = arg.UnmarkDeep(); !plain[i].IsWhollyKnown() {
				return nil
			}
		}
		return check(plain)
	})
}

// boundJoin holds what join makes of its separators.
func boundJoin(args []cty.Value) error {
	elements := 0
	for _, list := range args[1:] {
		if !list.IsNull() && list.CanIterateElements() {
			elements += list.LengthInt()
		}
	}
	if args[0].IsNull() {
		return nil
	}
	return bounded(elements, len(args[0].AsString()))
}

// boundFormatList holds how often the format is filled in.
func boundFormatList(args []cty.Value) error {
	if args[0].IsNull() {
		return nil
	}
	longest, all := 0, 0
	for _, arg := range args {
		weight, _ := syntax.Weigh(arg)
		all += weight
		if ty := arg.Type(); !arg.IsNull() && (ty.IsListType() || ty.IsTupleType() || ty.IsSetType()) {
			longest = max(longest, arg.LengthInt())
			all -= weight
		}
	}
	return bounded(longest, all)
}

// boundProduct holds how many combinations there are.
func boundProduct(args []cty.Value) error {
	product := 1
	for _, arg := range args {
		if arg.IsNull() || !arg.CanIterateElements() {
			return nil
		}
		n := arg.LengthInt()
		if err := bounded(product, n*64*len(args)); err != nil {
			return err
		}
		product *= n
	}
	return nil
}

// maxExpanded is how many nodes a YAML document may have once its aliases are
// put in.
const maxExpanded = 100_000

// boundAliases refuses documents whose aliases hold each other so often that
// they would fill the memory. What is no YAML is left to the decoder.
func boundAliases(args []cty.Value) error {
	if args[0].IsNull() || !strings.Contains(args[0].AsString(), "*") {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(args[0].AsString()), &doc); err != nil {
		return nil
	}
	if expanded(&doc, map[*yaml.Node]int{}) > maxExpanded {
		return function.NewArgErrorf(0, "has aliases that hold each other: with all of them put in it would have more than %d nodes", maxExpanded)
	}
	return nil
}

// expanded counts the nodes of a document with its aliases put in, up to a few
// more than maxExpanded.
func expanded(n *yaml.Node, known map[*yaml.Node]int) int {
	if count, ok := known[n]; ok {
		return count
	}
	known[n] = maxExpanded + 1 // one that holds itself
	count := 1
	if n.Alias != nil {
		count += expanded(n.Alias, known)
	}
	for _, inner := range n.Content {
		count = min(count+expanded(inner, known), maxExpanded+1)
	}
	known[n] = count
	return count
}
