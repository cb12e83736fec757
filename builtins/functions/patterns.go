package functions

import (
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

const aPattern = "A regular expression in the syntax RE2."

func patternFunctions() map[string]function.Function {
	return map[string]function.Function{
		"regex": documented(stdlib.RegexFunc,
			"Returns the first match of a pattern in a text: the match, or its groups as a list or an object by their names. It is an error if there is none.",
			aPattern, aText),
		"regexall": documented(stdlib.RegexAllFunc,
			"Returns all matches of a pattern in a text as a list, each as regex returns it.", aPattern, aText),
		"replace": text(replace,
			"Replaces every part of a text by another. A part between slashes, \"/…/\", is a regular expression, and $1 or ${name} in the replacement stands for its groups.",
			param("str", aText), param("substr", "The part to replace, or a pattern between slashes."),
			param("replace", "What to put there.")),
	}
}

func replace(args []string) (string, error) {
	str, part, with := args[0], args[1], args[2]
	if len(part) < 2 || part[0] != '/' || part[len(part)-1] != '/' {
		if err := bounded(strings.Count(str, part), len(with)); err != nil {
			return "", err
		}
		return strings.ReplaceAll(str, part, with), nil
	}
	re, err := regexp.Compile(part[1 : len(part)-1])
	if err != nil {
		return "", function.NewArgErrorf(1, "is no regular expression: %v", err)
	}
	if err := bounded(len(str)+1, len(with)); strings.Contains(with, "$") && err != nil {
		return "", err // a match may stand in it many times
	}
	if err := bounded(len(re.FindAllStringIndex(str, -1)), len(with)); err != nil {
		return "", err
	}
	return re.ReplaceAllString(str, with), nil
}
