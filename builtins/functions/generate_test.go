package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"pgregory.net/rapid"

	"hostler/interpreter/block"
)

// anything generates values of all kinds: known, unknown, null, sensitive.
func anything(depth int) *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value {
		v := plain(depth).Draw(t, "plain")
		switch rapid.IntRange(0, 9).Draw(t, "how") {
		case 0:
			v = cty.UnknownVal(v.Type())
		case 1:
			v = cty.NullVal(v.Type())
		case 2:
			v = block.MarkSensitive(v)
		case 3:
			v = block.MarkSensitive(cty.UnknownVal(v.Type()))
		}
		return v
	})
}

func plain(depth int) *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value {
		most := 7
		if depth == 0 {
			most = 3
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return cty.StringVal(rapid.SampledFrom([]string{"", "a", "v1.2.3", "10.0.0.0/8", "files/hello.txt", "/", "1", "%s",
				"{", "[1]", "a: b", "2026-01-31T12:00:00Z", "1h", "ä\x00\n", "path", "/(/"}).Draw(t, "s"))
		case 1:
			return cty.NumberFloatVal(rapid.SampledFrom([]float64{0, 1, -1, 0.5, 3, 62, 1e9, -1e18, 1e300}).Draw(t, "n"))
		case 2:
			return cty.BoolVal(rapid.Bool().Draw(t, "b"))
		case 3:
			return cty.DynamicVal
		}
		elems := rapid.SliceOfN(anything(depth-1), 0, 3).Draw(t, "elems")
		switch rapid.IntRange(0, 3).Draw(t, "collection") {
		case 0:
			return cty.TupleVal(elems)
		case 1:
			attrs := map[string]cty.Value{}
			for i, e := range elems {
				attrs[string(rune('a'+i))] = e
			}
			return cty.ObjectVal(attrs)
		}
		return uniform(t, cty.TupleVal(elems))
	})
}

// uniform converts a tuple to a list or set where that is possible.
func uniform(t *rapid.T, v cty.Value) cty.Value {
	to := cty.List(cty.DynamicPseudoType)
	if rapid.Bool().Draw(t, "set") {
		to = cty.Set(cty.DynamicPseudoType)
	}
	if c, err := convert.Convert(v, to); err == nil {
		return c
	}
	return v
}

func data(depth int) *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		if depth == 0 {
			kind %= 3
		}
		switch kind {
		case 0:
			return cty.StringVal(rapid.StringOf(rapid.SampledFrom([]rune("ab \n\t:#-'\"[]{}&*!|>%@`yes012ä\\"))).Draw(t, "s"))
		case 1:
			return cty.NumberIntVal(rapid.Int64().Draw(t, "n"))
		case 2:
			return cty.BoolVal(rapid.Bool().Draw(t, "b"))
		case 3:
			return cty.TupleVal(rapid.SliceOfN(data(depth-1), 0, 3).Draw(t, "list"))
		}
		attrs := map[string]cty.Value{}
		for _, key := range rapid.SliceOfN(rapid.StringMatching(`[a-z. :#]{1,6}`), 0, 3).Draw(t, "keys") {
			attrs[key] = data(depth-1).Draw(t, "attr")
		}
		return cty.ObjectVal(attrs)
	})
}
