package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// bareMode reports a mode written as a number, with the string to write.
func (e *evaluation) bareMode(at *block.Attr, a *hclsyntax.Attribute, v cty.Value) {
	digits := v.AsBigFloat().Text('f', 0)
	if lit, ok := a.Expr.(*hclsyntax.LiteralValueExpr); ok {
		digits = string(lit.SrcRange.SliceBytes(e.frame.recipe.file.Bytes))
	}
	digits = strings.TrimLeft(digits, "0")
	if _, err := block.ParseMode("0" + digits); err != nil {
		e.fail(a.Expr.Range(), "Mode is a number", "Without quotes this is a decimal number. Write the octal digits in quotes, for example %s = \"0644\".", at.Name)
		return
	}
	e.fail(a.Expr.Range(), "Mode is a number", "Without quotes this is a decimal number, which is another mode. Write %s = \"%04s\".", at.Name, digits)
}
