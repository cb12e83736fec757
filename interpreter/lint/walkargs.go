package lint

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
)

// EachArg visits the arguments that are written in the steps of the recipe,
// those of nested blocks too.
func (p *Pass) EachArg(visit func(s *eval.Inspected, a *eval.Arguments, arg eval.Arg)) {
	for _, s := range p.Steps() {
		eachArg(s, s.Arguments, visit)
	}
}

func eachArg(s *eval.Inspected, a *eval.Arguments, visit func(*eval.Inspected, *eval.Arguments, eval.Arg)) {
	for _, arg := range a.Args() {
		visit(s, a, arg)
	}
	for _, n := range a.Nested() {
		eachArg(s, n, visit)
	}
}

// Words are the elements of a list that is written as one, as far as they are
// known, each with its expression; "" where it is not.
func Words(a *eval.Arguments, arg eval.Arg) []Word {
	if !arg.Written() {
		return nil
	}
	list, ok := arg.Attribute.Expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil
	}
	var words []Word
	for _, e := range list.Exprs {
		w := Word{Expr: e}
		v, sensitive := a.Eval(e)
		w.Sensitive = sensitive
		if isString(v) {
			w.Text = v.AsString()
		}
		words = append(words, w)
	}
	return words
}

// Word is one element of a list of strings.
type Word struct {
	Text      string // "" when it is not known
	Expr      hclsyntax.Expression
	Sensitive bool
}

// Argvs visits the command lines in the steps of the recipe.
func (p *Pass) Argvs(visit func(s *eval.Inspected, arg eval.Arg, words []Word)) {
	p.EachArg(func(s *eval.Inspected, a *eval.Arguments, arg eval.Arg) {
		if arg.Schema.Grammar == "argv" {
			if words := Words(a, arg); len(words) > 0 {
				visit(s, arg, words)
			}
		}
	})
}

// node is a part of the recipe's text and the top-level block that it stands in.
type node struct {
	owner *hclsyntax.Block
	hclsyntax.Node
}

// Nodes visits every expression, argument and block of the recipe's text; owner
// is the top-level block that it stands in.
func (p *Pass) Nodes(visit func(owner *hclsyntax.Block, n hclsyntax.Node)) {
	if p.nodes == nil {
		p.nodes = []node{}
		for _, b := range p.File.Body.Blocks {
			hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
				p.nodes = append(p.nodes, node{b, n})
				return nil
			})
		}
	}
	for _, n := range p.nodes {
		visit(n.owner, n.Node)
	}
}

// Traversals visits every reference of the recipe's text.
func (p *Pass) Traversals(visit func(owner *hclsyntax.Block, e *hclsyntax.ScopeTraversalExpr)) {
	p.Nodes(func(owner *hclsyntax.Block, n hclsyntax.Node) {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			visit(owner, e)
		}
	})
}

// Literal is the text of an expression that is written as a string without
// anything to evaluate.
func Literal(expr hclsyntax.Expression) (string, bool) {
	switch e := expr.(type) {
	case *hclsyntax.TemplateExpr:
		if !e.IsStringLiteral() && len(e.Parts) != 0 {
			return "", false
		}
		v, diags := e.Value(nil)
		if diags.HasErrors() || !isString(v) {
			return "", false
		}
		return v.AsString(), true
	case *hclsyntax.LiteralValueExpr:
		if isString(e.Val) {
			return e.Val.AsString(), true
		}
	}
	return "", false
}

// Refers says whether one of the steps is among those that references name.
func Refers(refs []eval.Ref, s *eval.Inspected) bool {
	return slices.ContainsFunc(refs, func(r eval.Ref) bool { return slices.Contains(r.Steps, s) })
}
