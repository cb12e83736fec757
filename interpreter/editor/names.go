package editor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The kinds of things that have a name.
const (
	kindVariable = "variable"
	kindLocal    = "local"
	kindOutput   = "output"
	kindUse      = "use"
	kindStep     = "step"
)

// symbol is a thing that a recipe names.
type symbol struct {
	kind, name string
	// typ is the block type of a step, machine the step that it is nested in.
	typ     string
	machine *symbol
	// node is the block that declares it, local the argument of a local.
	node  *node
	local *attr
	at    span // of the name, quotes left out
}

// occurrence is a place where a symbol is named.
type occurrence struct {
	*symbol
	at span
	// declares says that it is the declaration; quoted that the name stands in
	// quotes, dotted that a dot comes before it.
	declares, quoted, dotted bool
}

// names are the symbols of a recipe and where they are named.
type names struct {
	list        []*symbol
	occurrences []occurrence
	refs        []reference
}

// reference is a traversal: var.a.b, systemd_unit["x.service"].
type reference struct {
	parts []part
	in    *node
}

// part is one name of a reference.
type part struct {
	text   string
	at     span
	quoted bool
}

func newNames(g *grammar, o *outline) *names {
	n := &names{}
	n.declare(g, o.root, nil)
	for _, s := range n.list {
		quoted := s.local == nil && len(s.node.labels) > 0 && s.node.labels[0].quoted
		n.occurrences = append(n.occurrences, occurrence{symbol: s, at: s.at, declares: true, quoted: quoted})
	}
	o.root.each(func(b *node) {
		for _, a := range b.attrs {
			n.refs = append(n.refs, o.references(b, a)...)
		}
	})
	for _, r := range n.refs {
		n.resolve(g, r)
	}
	return n
}

// declare finds the symbols that blocks declare.
func (n *names) declare(g *grammar, outer *node, machine *symbol) {
	for _, b := range outer.blocks {
		s := &symbol{name: b.label(), node: b, machine: machine}
		inner := machine
		switch t := g.vocab.Type(b.kind); {
		case b.kind == "locals" && outer.parent == nil:
			for _, a := range b.attrs {
				n.list = append(n.list, &symbol{kind: kindLocal, name: a.name, node: b, local: a, at: a.at})
			}
			continue
		case outer.parent == nil && (b.kind == kindVariable || b.kind == kindOutput || b.kind == kindUse):
			s.kind = b.kind
		case t != nil:
			s.kind, s.typ = kindStep, b.kind
			if holdsSteps(t) {
				inner = s
			}
		}
		if s.kind != "" && len(b.labels) > 0 && s.name != "" {
			s.at = b.labels[0].at
			n.list = append(n.list, s)
		}
		n.declare(g, b, inner)
	}
}

// find is the symbol with a name; steps are looked for in a machine, nil for the
// host.
func (n *names) find(kind, typ, name string, machine *symbol) *symbol {
	for _, s := range n.list {
		if s.kind == kind && s.typ == typ && s.name == name && s.machine == machine {
			return s
		}
	}
	return nil
}

// machineOf is the machine that a block is nested in, nil for the host.
func (n *names) machineOf(b *node) *symbol {
	for b = b.parent; b != nil; b = b.parent {
		for _, s := range n.list {
			if s.node == b && s.kind == kindStep {
				return s
			}
		}
	}
	return nil
}

// resolve notes what a reference names.
func (n *names) resolve(g *grammar, r reference) {
	if len(r.parts) < 2 {
		return
	}
	note := func(i int, s *symbol) {
		if s != nil {
			n.occurrences = append(n.occurrences, occurrence{symbol: s, at: r.parts[i].at, quoted: r.parts[i].quoted, dotted: !r.parts[i].quoted})
		}
	}
	root, second := r.parts[0].text, r.parts[1].text
	switch {
	case root == "var":
		note(1, n.find(kindVariable, "", second, nil))
	case root == "local":
		note(1, n.find(kindLocal, "", second, nil))
	case root == "use":
		note(1, n.find(kindUse, "", second, nil))
	case g.vocab.Type(root) != nil:
		s := n.step(root, second, n.machineOf(r.in))
		note(1, s)
		if s != nil && len(r.parts) > 3 && g.vocab.Type(r.parts[2].text) != nil {
			note(3, n.find(kindStep, r.parts[2].text, r.parts[3].text, s))
		}
	}
}

// step is a step as it is seen from inside a machine, or from the host.
func (n *names) step(typ, name string, machine *symbol) *symbol {
	if machine != nil {
		if s := n.find(kindStep, typ, name, machine); s != nil {
			return s
		}
	}
	return n.find(kindStep, typ, name, nil)
}

// at is the occurrence at an offset, nil if there is none.
func (n *names) at(at int) *occurrence {
	i := slices.IndexFunc(n.occurrences, func(o occurrence) bool { return o.at.holds(at) })
	if i < 0 {
		return nil
	}
	return &n.occurrences[i]
}

// of are the occurrences of a symbol in the order of the text.
func (n *names) of(s *symbol) []occurrence {
	var list []occurrence
	for _, o := range n.occurrences {
		if o.symbol == s {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b occurrence) int { return a.at.from - b.at.from })
	return list
}

// address is how the step is written in references from the host.
func (s *symbol) address() string {
	own := s.typ + "." + s.name
	if !hclsyntax.ValidIdentifier(s.name) {
		own = s.typ + "[" + quote(s.name) + "]"
	}
	if s.machine != nil {
		return s.machine.address() + "." + own
	}
	return own
}

// references are the traversals in the value of an argument.
func (o *outline) references(in *node, a *attr) []reference {
	var list []reference
	for i := a.first; i < a.last; i++ {
		if o.tokens[i].Type != hclsyntax.TokenIdent || i > a.first && o.tokens[i-1].Type == hclsyntax.TokenDot {
			continue
		}
		if i+1 < a.last && o.tokens[i+1].Type == hclsyntax.TokenOParen {
			continue
		}
		r := reference{in: in, parts: []part{{string(o.tokens[i].Bytes), bytesOf(o.tokens[i]), false}}}
		o.follow(&r, i+1, a.last)
		list = append(list, r)
	}
	return list
}

// follow adds the names after the first.
func (o *outline) follow(r *reference, i, last int) {
	is := func(k int, t hclsyntax.TokenType) bool { return i+k < last && o.tokens[i+k].Type == t }
	for {
		switch {
		case is(0, hclsyntax.TokenDot) && is(1, hclsyntax.TokenIdent):
			r.parts = append(r.parts, part{string(o.tokens[i+1].Bytes), bytesOf(o.tokens[i+1]), false})
			i += 2
		case is(0, hclsyntax.TokenOBrack) && is(1, hclsyntax.TokenOQuote) && is(2, hclsyntax.TokenQuotedLit) && is(3, hclsyntax.TokenCQuote) && is(4, hclsyntax.TokenCBrack):
			r.parts = append(r.parts, part{unquote(string(o.tokens[i+2].Bytes)), bytesOf(o.tokens[i+2]), true})
			i += 5
		default:
			return
		}
	}
}

// unquote is the text that stands between quotes; as it is written if it holds
// an escape that is none.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(s)
	}
	var out string
	if json.Unmarshal([]byte(`"`+s+`"`), &out) != nil {
		return s
	}
	return out
}

// quote is a text as it is written between quotes, quotes included.
func quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{")
	return `"` + r.Replace(s) + `"`
}
