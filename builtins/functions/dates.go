package functions

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

const aTime = "A time in RFC 3339, such as 2026-01-31T12:00:00Z."

func dateFunctions() map[string]function.Function {
	return map[string]function.Function{
		"formatdate": documented(stdlib.FormatDateFunc, "Writes a time in another form.",
			"The form: YYYY, MM, DD, hh, mm, ss, ZZZ and others; literal letters in single quotes.", aTime),
		"timeadd": documented(stdlib.TimeAddFunc, "Adds a duration to a time.", aTime,
			"The duration, such as 1h30m or -10s."),
		"timecmp": timeCmp(),
	}
}

func timeCmp() function.Function {
	return function.New(&function.Spec{
		Description: "Compares two times: -1, 0 or 1 if the first is earlier, the same or later.",
		Params:      []function.Parameter{param("timestamp_a", aTime), param("timestamp_b", aTime)},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var times [2]time.Time
			for i, arg := range args {
				t, err := time.Parse(time.RFC3339, arg.AsString())
				if err != nil {
					return cty.NilVal, function.NewArgErrorf(i, "is no time in RFC 3339: %q", arg.AsString())
				}
				times[i] = t
			}
			return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
		},
	})
}
