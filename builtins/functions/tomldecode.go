package functions

import (
	"encoding/json"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// tomlDecode goes through JSON, whose values are those of expressions; dates
// become texts.
func tomlDecode() function.Function {
	return shallow(function.New(&function.Spec{
		Description: "Reads a TOML document as an object. Dates and times become texts.",
		Params:      []function.Parameter{param("str", "The TOML.")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := tomlRead(args[0].AsString())
			return v.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return tomlRead(args[0].AsString()) },
	}))
}

// dated puts texts in the place of dates and times, as TOML writes them.
func dated(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = dated(v[name])
		}
	case []map[string]any:
		for _, table := range v {
			dated(table)
		}
	case []any:
		for i := range v {
			v[i] = dated(v[i])
		}
	case time.Time:
		switch v.Location().String() { // as the decoder calls those without a zone
		case "date-local":
			return v.Format("2006-01-02")
		case "time-local":
			return v.Format("15:04:05.999999999")
		case "datetime-local":
			return v.Format("2006-01-02T15:04:05.999999999")
		}
		return v.Format(time.RFC3339Nano)
	}
	return v
}

func tomlRead(document string) (cty.Value, error) {
	var data map[string]any
	if _, err := toml.Decode(document, &data); err != nil {
		return cty.DynamicVal, function.NewArgErrorf(0, "is no TOML: %v", err)
	}
	text, err := json.Marshal(dated(data))
	if err != nil {
		return cty.DynamicVal, function.NewArgErrorf(0, "has a value that cannot be read: %v", err)
	}
	ty, err := ctyjson.ImpliedType(text)
	if err != nil {
		return cty.DynamicVal, function.NewArgError(0, err)
	}
	return ctyjson.Unmarshal(text, ty)
}
