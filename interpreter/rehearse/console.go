package rehearse

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/syntax"
)

// Console evaluates expressions beside a recipe, on a host in memory.
type Console struct {
	desk *eval.Desk
	// Name is how diagnostics call what is typed.
	Name string
}

// NewConsole evaluates the recipe for the image and stands beside it; without a
// recipe there are facts, look-ups and functions only.
func NewConsole(ctx context.Context, lang Language, s Subject, img Image) (*Console, error) {
	m, err := (madeOf{img.Options}).host()
	if err != nil {
		return nil, err
	}
	req := interpreter.Request{Recipe: s.Recipe, Bundle: s.Bundle, Given: s.Given}
	if s.Recipe == nil {
		req.Recipe, _ = eval.Load(eval.Blank(), lang.Vocabulary, lang.Loader, "")
	}
	in := &interpreter.Interpreter{
		Vocabulary: lang.Vocabulary, Host: m.Host(), Rand: rand.NewChaCha8([32]byte{1}), Holder: host.Holder{PID: 1, Command: "hostler console"},
	}
	desk, err := in.Desk(ctx, req, eval.Extra{})
	return &Console{desk: desk, Name: "console"}, err
}

// Eval evaluates an expression and returns its value as it is written in a
// recipe.
func (c *Console) Eval(text string) (string, hcl.Diagnostics) {
	expr, diags := syntax.ParseExpression(c.Name, []byte(text))
	if diags.HasErrors() {
		return "", diags
	}
	v, sensitive, diags := c.desk.Eval(expr)
	switch {
	case diags.HasErrors():
		return "", diags
	case sensitive:
		return "(sensitive)", diags
	}
	return eval.Literal(v), diags
}

// Complete are the names and functions that begin with what is typed last, with
// the whole line each.
func (c *Console) Complete(line string) (lines []string) {
	at := strings.LastIndexFunc(line, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", r)
	}) + 1
	word := line[at:]
	names := c.desk.Names()
	for _, name := range c.desk.Functions() {
		names = append(names, name+"(")
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if word != "" && strings.HasPrefix(name, word) {
			lines = append(lines, line[:at]+name)
		}
	}
	return lines
}

// Unfinished says that an expression goes on: something that was opened is not
// closed yet.
func Unfinished(text string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(text), "console", hcl.InitialPos)
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCHeredoc:
			depth--
		}
	}
	return depth > 0
}
