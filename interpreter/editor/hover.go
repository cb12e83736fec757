package editor

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"
)

// hover says what is known about what stands at a place, nil for nothing.
func (s *Service) hover(d *document, at int) *Hover {
	if d.kind() != kindRecipe {
		return nil
	}
	text, place := s.about(d, at)
	if text == "" {
		return nil
	}
	return &Hover{markdown(text), d.rangeOf(place)}
}

func (s *Service) about(d *document, at int) (string, span) {
	if text, place := s.aboutHeader(d, at); text != "" {
		return text, place
	}
	if o := d.names().at(at); o != nil {
		return describe(d, o.symbol), o.at
	}
	if text, place := s.aboutReference(d, at); text != "" {
		return text, place
	}
	n := d.outline().root.blockAt(at)
	body, ok := d.grammar.of(n)
	a := n.attrAt(at)
	if a == nil || !ok {
		return "", span{}
	}
	if a.at.holds(at) {
		if schema := body.attr(a.name); schema != nil {
			return fmt.Sprintf("**%s** (%s)\n\n%s", a.name, kindOfValue(*schema), attrDoc(*schema)), a.at
		}
		return "", span{}
	}
	return d.aboutCall(a, at)
}

// aboutHeader is the documentation of the block whose type stands at a place.
func (s *Service) aboutHeader(d *document, at int) (text string, place span) {
	d.outline().root.each(func(n *node) {
		if n.parent == nil || !n.at.holds(at) {
			return
		}
		outer, _ := d.grammar.of(n.parent)
		place = n.at
		if t := d.grammar.vocab.Type(n.kind); t != nil && outer.steps != nil {
			text = s.Block(t)
		} else if kind := outer.block(n.kind); kind != nil {
			text = fmt.Sprintf("**%s**\n\n%s", n.kind, kind.Doc)
		}
	})
	return text, place
}

// aboutReference documents roots, facts and what steps export.
func (s *Service) aboutReference(d *document, at int) (string, span) {
	for _, r := range d.names().refs {
		for i, p := range r.parts {
			if !p.at.holds(at) {
				continue
			}
			return s.aboutPart(d, r, i), p.at
		}
	}
	return "", span{}
}

func (s *Service) aboutPart(d *document, r reference, i int) string {
	var words []string
	for _, p := range r.parts[:i+1] {
		words = append(words, p.text)
	}
	path := strings.Join(words, ".")
	if doc, ok := d.grammar.facts[path]; ok {
		return fmt.Sprintf("**%s**\n\n%s", path, doc)
	}
	if i == 0 {
		if t := d.grammar.vocab.Type(r.parts[0].text); t != nil && len(r.parts) > 1 {
			return fmt.Sprintf("**%s**\n\n%s", t.Name, t.Doc.Summary)
		}
		return ""
	}
	if used := s.used(d, r.parts[1].text); used != nil && r.parts[0].text == kindUse && i == 2 {
		if o := used.names().find(kindOutput, "", r.parts[2].text, nil); o != nil {
			return describe(used, o)
		}
	}
	if t := d.grammar.vocab.Type(r.parts[max(0, i-2)].text); t != nil {
		for _, e := range t.Schema.Exports {
			if e.Name == r.parts[i].text {
				return fmt.Sprintf("**%s** (%s)\n\n%s", e.Name, kindOfValue(e), e.Doc)
			}
		}
	}
	return ""
}

// aboutCall documents the function whose name stands at a place.
func (d *document) aboutCall(a *attr, at int) (string, span) {
	tokens := d.outline().tokens
	for i := a.first; i+1 < a.last; i++ {
		if tokens[i].Type != hclsyntax.TokenIdent || !bytesOf(tokens[i]).holds(at) || tokens[i+1].Type != hclsyntax.TokenOParen {
			continue
		}
		name := string(tokens[i].Bytes)
		if f, ok := d.grammar.functions[name]; ok {
			return functionDoc(name, f), bytesOf(tokens[i])
		}
	}
	return "", span{}
}

func functionDoc(name string, f function.Function) string {
	var out strings.Builder
	fmt.Fprintf(&out, "```hcl\n%s\n```\n\n%s\n", signatureOf(name, f).Label, f.Description())
	for _, p := range parametersOf(f) {
		if p.Description != "" {
			fmt.Fprintf(&out, "\n* `%s`: %s", p.Name, p.Description)
		}
	}
	return out.String()
}

// describe says what a symbol is, from what its declaration says.
func describe(d *document, s *symbol) string {
	value := func(name string) string {
		if a := s.node.attr(name); a != nil {
			return d.text.text(a.value)
		}
		return ""
	}
	switch s.kind {
	case kindLocal:
		return "**local." + s.name + "**\n\n```hcl\n" + clip(d.text.text(s.local.value)) + "\n```"
	case kindVariable:
		text := "**var." + s.name + "**"
		if ty := value("type"); ty != "" {
			text += " (" + ty + ")"
		}
		return text + sentence(value("description")) + fact("Default", value("default")) + fact("Sensitive", value("sensitive"))
	case kindUse:
		return "**use." + s.name + "**" + fact("Source", value("source"))
	case kindOutput:
		return "**output " + s.name + "**" + sentence(value("description")) + fact("Value", clip(value("value")))
	}
	text := "**" + s.address() + "**" + sentence(value("description"))
	if t := d.grammar.vocab.Type(s.typ); t != nil {
		text += "\n\n" + t.Doc.Summary
	}
	return text + fact("Path", value("path")) + fact("Name", value("name"))
}

func sentence(quoted string) string {
	if quoted == "" {
		return ""
	}
	return "\n\n" + unquote(strings.Trim(quoted, `"`))
}

func fact(name, value string) string {
	if value == "" {
		return ""
	}
	return "\n\n" + name + ": `" + strings.ReplaceAll(value, "`", "'") + "`"
}

// maxShown bounds how much of a value is shown, in bytes.
const maxShown = 600

func clip(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown], "") + " …"
	}
	return s
}

// brief is a symbol in a word or two.
func (c *completer) brief(s *symbol) string {
	if s.kind == kindVariable {
		if a := s.node.attr("type"); a != nil {
			return strings.Join(strings.Fields(c.document.text.text(a.value)), " ")
		}
	}
	return s.kind
}

func (c *completer) describe(s *symbol) string { return describe(c.document, s) }
