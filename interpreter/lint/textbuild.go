package lint

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// TextOf is the text of an argument of a step, read from the asset that it
// names when it is one. ok is false when nothing is written or known of it.
func (p *Pass) TextOf(arguments *eval.Arguments, name string) (t Text, ok bool) {
	arg := arguments.Arg(name)
	if !arg.Written() {
		return Text{}, false
	}
	if t, ok = p.texts[arg.Range]; ok {
		return t, true
	}
	b := &builder{pass: p, arguments: arguments}
	b.text.Whole, b.text.Literal, b.text.at = true, true, arg.Range
	if arg.Schema.Asset {
		ok = b.asset(arg)
	} else {
		ok = b.expr(arg.Attribute.Expr)
	}
	if ok && !hasEach(arg.Attribute.Expr) {
		p.texts[arg.Range] = b.text
	}
	return b.text, ok
}

func hasEach(expr hclsyntax.Expression) bool {
	for _, t := range expr.Variables() {
		if t.RootName() == "each" || t.RootName() == "self" {
			return true
		}
	}
	return false
}

// builder puts a text together.
type builder struct {
	pass      *Pass
	arguments *eval.Arguments // nil at the top level of the recipe
	quoted    bool            // in a string with quotes, which has escapes
	text      Text
}

func (b *builder) asset(arg eval.Arg) bool {
	name, ok := arg.Text()
	if !ok {
		return false
	}
	return b.file(name)
}

func (b *builder) file(name string) bool {
	a := b.pass.asset(name)
	if a.err != nil {
		return false
	}
	if len(b.text.Text) == 0 {
		b.text.Asset = name
	}
	b.verbatim(&a.positions, 0, len(a.bytes))
	return true
}

// verbatim adds a part of a source.
func (b *builder) verbatim(source *syntax.Positions, from, to int) {
	if from == to {
		return
	}
	b.text.pieces = append(b.text.pieces, piece{at: len(b.text.Text), size: to - from, source: source, from: from, asset: source != &b.pass.positions})
	b.text.Text += string(source.Text(from, to))
}

// opaque adds a text that something at a range evaluates to.
func (b *builder) opaque(s string, rng hcl.Range) {
	if s == "" {
		return
	}
	b.text.pieces = append(b.text.pieces, piece{at: len(b.text.Text), size: len(s), rng: rng})
	b.text.Text += s
}

// expr adds what an expression evaluates to. It is false when it is no text.
func (b *builder) expr(expr hclsyntax.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return b.expr(e.Expression)
	case interface{ Unwrapped() hclsyntax.Expression }: // what meters evaluation
		return b.expr(e.Unwrapped())
	case *hclsyntax.TemplateWrapExpr:
		return b.expr(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		return b.template(e)
	case *hclsyntax.LiteralValueExpr:
		return b.literal(e)
	case *hclsyntax.ScopeTraversalExpr:
		if local := b.localOf(e); local != nil {
			outer := b.arguments
			b.arguments = nil
			defer func() { b.arguments = outer }()
			return b.expr(local)
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "file" && len(e.Args) == 1 {
			if v, _ := b.eval(e.Args[0]); isString(v) {
				return b.file(v.AsString())
			}
		}
	}
	return b.value(expr)
}

func (b *builder) template(e *hclsyntax.TemplateExpr) bool {
	outer := b.quoted
	defer func() { b.quoted = outer }()
	switch b.pass.Source(hcl.Range{Filename: e.SrcRange.Filename, Start: e.SrcRange.Start, End: hcl.Pos{Byte: e.SrcRange.Start.Byte + 1}}) {
	case `"`:
		b.quoted = true
	case "<":
		b.quoted = false
	}
	for _, part := range e.Parts {
		if !b.expr(part) {
			return false
		}
	}
	return true
}

// localOf is the expression of a local that is read as a whole and is a text by
// itself.
func (b *builder) localOf(e *hclsyntax.ScopeTraversalExpr) hclsyntax.Expression {
	if len(e.Traversal) != 2 || e.Traversal.RootName() != "local" {
		return nil
	}
	name, ok := e.Traversal[1].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	switch local := b.pass.local(name.Name).(type) {
	case *hclsyntax.TemplateExpr:
		return local
	}
	return nil
}

func (b *builder) eval(expr hclsyntax.Expression) (cty.Value, bool) {
	if b.arguments == nil {
		return b.pass.Inspection.Eval(expr)
	}
	return b.arguments.Eval(expr)
}

// value adds what can be known of an expression.
func (b *builder) value(expr hclsyntax.Expression) bool {
	b.text.Literal = false
	v, sensitive := b.eval(expr)
	b.text.Secret = b.text.Secret || sensitive
	if !v.IsKnown() {
		b.text.Whole = false
		b.opaque(string(Hole), expr.Range())
		return true
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() {
		return false
	}
	b.opaque(s.AsString(), expr.Range())
	return true
}

func (b *builder) literal(e *hclsyntax.LiteralValueExpr) bool {
	if !isString(e.Val) {
		return b.value(e)
	}
	s := e.Val.AsString()
	from, to := e.SrcRange.Start.Byte, e.SrcRange.End.Byte
	if e.SrcRange.Filename != b.pass.File.Name || to > len(b.pass.File.Bytes) || from > to {
		b.opaque(s, e.SrcRange)
		return true
	}
	if !b.aligned(s, from, to) {
		b.opaque(s, e.SrcRange)
	}
	return true
}
