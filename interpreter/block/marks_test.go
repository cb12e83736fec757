package block

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestSensitive(t *testing.T) {
	secret := MarkSensitive(cty.StringVal("s"))
	for _, c := range []struct {
		value cty.Value
		want  bool
	}{
		{cty.StringVal("s"), false},
		{secret, true},
		{MarkSensitive(secret), true},
		{MarkSensitive(cty.UnknownVal(cty.String)), true},
		{cty.NullVal(cty.String), false},
		{cty.StringVal("s").Mark("other"), false},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.ListVal([]cty.Value{cty.StringVal("x"), secret})}), true},
		{cty.ObjectVal(map[string]cty.Value{"a": cty.EmptyTupleVal}), false},
	} {
		if got := IsSensitive(c.value); got != c.want {
			t.Errorf("%#v: %v", c.value, got)
		}
	}
}
