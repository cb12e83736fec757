package eval

import (
	"testing/fstest"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Literal is a value as it is written in a recipe. What is not known is
// "(not known)", what is sensitive "(sensitive)".
func Literal(v cty.Value) string {
	switch {
	case v == cty.NilVal:
		return "(nothing)"
	case v.ContainsMarked():
		return "(sensitive)"
	case !v.IsWhollyKnown():
		return "(not known)"
	}
	return string(hclwrite.Format(hclwrite.TokensForValue(v).Bytes()))
}

// blank is the least that is a recipe.
const blank = "recipe \"blank\" {\n  language    = 1\n  version     = \"0.0.0\"\n  fingerprint = fingerprint({})\n  supports \"any\" {}\n}\n"

// Blank is a recipe of nothing, for a desk beside none.
func Blank() Source {
	return Tree("blank:", fstest.MapFS{MainFile: &fstest.MapFile{Data: []byte(blank)}}, ".")
}
