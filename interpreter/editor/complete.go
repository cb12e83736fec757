package editor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// completion lists what may be written at a place.
func (s *Service) completion(d *document, at int, snippets bool) CompletionList {
	c := &completer{cursor: d.cursor(at), service: s, snippets: snippets}
	if d.kind() == kindRecipe {
		c.complete()
	}
	return CompletionList{Items: append([]CompletionItem{}, c.items...)}
}

// completer collects items.
type completer struct {
	*cursor
	service  *Service
	snippets bool
	items    []CompletionItem
}

func (c *completer) complete() {
	switch {
	case c.attr == nil:
		c.names()
	case c.literal:
		c.texts()
	default:
		c.expression()
	}
}

// add adds an item that replaces a span. group orders items, least first.
func (c *completer) add(group int, at span, label, insert string, item CompletionItem) {
	item.Label, item.SortText = label, fmt.Sprintf("%d%s", group, label)
	if strings.ContainsRune(insert, '$') && item.InsertTextFormat == 0 {
		item.InsertTextFormat = insertSnippet
	}
	item.TextEdit = &TextEdit{c.rangeOf(at), insert}
	c.items = append(c.items, item)
}

func shown(s string) *Markup {
	m := markdown(s)
	return &m
}

// names completes arguments and blocks.
func (c *completer) names() {
	at := c.prefix()
	if strings.TrimSpace(c.text.text(span{c.line(c.at).from, at.from})) != "" || !c.known {
		return
	}
	for _, a := range c.body.attrs {
		if c.in.attr(a.Name) == nil {
			c.add(attrGroup(a), at, a.Name, c.argument(a), CompletionItem{Kind: itemProperty, Detail: kindOfValue(a), Documentation: shown(attrDoc(a))})
		}
	}
	for _, n := range c.body.blocks {
		if n.Max == 0 || count(c.in, n.Name) < n.Max {
			c.add(2, at, n.Name, c.skeleton(n.Name, n.Labels, n.Schema), CompletionItem{Kind: itemModule, Detail: "block", Documentation: shown(n.Doc)})
		}
	}
	for _, t := range c.body.steps {
		c.add(3, at, t.Name, c.skeleton(t.Name, []string{"name"}, t.Schema), CompletionItem{Kind: itemClass, Detail: "step", Documentation: shown(t.Doc.Summary + "\n\n" + t.Doc.Text)})
	}
}

func count(n *node, kind string) (total int) {
	for _, b := range n.blocks {
		if b.kind == kind {
			total++
		}
	}
	return total
}

func attrGroup(a block.Attr) int {
	if a.Required {
		return 0
	}
	return 1
}

// argument is how an argument is begun.
func (c *completer) argument(a block.Attr) string {
	if !c.snippets {
		return a.Name + " = "
	}
	return a.Name + " = " + placeholder(a, 1)
}

// placeholder is a value to fill in.
func placeholder(a block.Attr, n int) string {
	switch {
	case len(a.OneOf) > 0:
		return fmt.Sprintf("\"${%d|%s|}\"", n, strings.Join(a.OneOf, ","))
	case a.Refs, a.Type.IsListType(), a.Type.IsSetType():
		return fmt.Sprintf("[$%d]", n)
	case a.Type == cty.Bool:
		return fmt.Sprintf("${%d|true,false|}", n)
	case a.Name == "fingerprint":
		return fmt.Sprintf("fingerprint({ $%d })", n)
	case a.Type == cty.String:
		return fmt.Sprintf("\"$%d\"", n)
	case a.Type.IsMapType(), a.Type.IsObjectType():
		return fmt.Sprintf("{ $%d }", n)
	}
	return fmt.Sprintf("$%d", n)
}

// skeleton is a block with what it requires.
func (c *completer) skeleton(name string, labels []string, schema block.Schema) string {
	if !c.snippets {
		return name + strings.Repeat(` ""`, len(labels)) + " {"
	}
	var out strings.Builder
	out.WriteString(name)
	n := 1
	for _, l := range labels {
		fmt.Fprintf(&out, " \"${%d:%s}\"", n, l)
		n++
	}
	out.WriteString(" {\n")
	for _, a := range schema.Attrs {
		if a.Required {
			fmt.Fprintf(&out, "  %s = %s\n", a.Name, placeholder(a, n))
			n++
		}
	}
	out.WriteString("  $0\n}")
	return out.String()
}

// expression completes names in a value.
func (c *completer) expression() {
	at := c.prefix()
	if path := c.path(); path != nil {
		c.members(at, path)
		return
	}
	schema := c.body.attr(c.attr.name)
	if schema != nil {
		c.values(at, *schema)
	}
	c.steps(at, schema != nil && schema.Refs)
	for root, doc := range map[string]string{"var": "Inputs of the recipe.", "local": "Named values of the recipe.", "host": "Facts of the host.", "use": "Outputs of used recipes."} {
		c.add(3, at, root, root, CompletionItem{Kind: itemVariable, Documentation: shown(doc)})
	}
	if c.within("for_each") {
		c.add(3, at, "each", "each", CompletionItem{Kind: itemVariable, Documentation: shown("`each.key` and `each.value` of this instance.")})
	}
	for _, name := range slices.Sorted(maps.Keys(c.grammar.functions)) {
		insert := name
		if c.snippets {
			insert = name + "($0)"
		}
		c.add(4, at, name, insert, CompletionItem{Kind: itemFunction, Detail: signatureOf(name, c.grammar.functions[name]).Label, Documentation: shown(c.grammar.functions[name].Description())})
	}
}

// within says that a block around the cursor has an argument.
func (c *completer) within(attr string) bool {
	for n := c.in; n != nil; n = n.parent {
		if n.attr(attr) != nil {
			return true
		}
	}
	return false
}

// values offers what an argument can be.
func (c *completer) values(at span, a block.Attr) {
	for _, v := range a.OneOf {
		c.add(0, at, quote(v), quote(v), CompletionItem{Kind: itemValue, Documentation: shown(attrDoc(a))})
	}
	if a.Type == cty.Bool {
		for _, v := range []string{"true", "false"} {
			c.add(0, at, v, v, CompletionItem{Kind: itemValue})
		}
	}
}

// steps offers the steps before this place.
func (c *completer) steps(at span, first bool) {
	group := 2
	if first {
		group = 0
	}
	for _, s := range c.reachable() {
		c.add(group, at, s.address(), s.address(), CompletionItem{Kind: itemReference, Detail: "step", InsertTextFormat: 1})
	}
}

// reachable are the steps that may be referred to: earlier ones, those of the
// same machine by their own address.
func (c *completer) reachable() (list []*symbol) {
	machine := c.document.names().machineOf(c.in)
	if s := c.document.names().own(c.in); s != nil && machine == nil && c.in.kind != s.typ {
		machine = s
	}
	for _, s := range c.document.names().list {
		if s.kind != kindStep || s.node == c.in || s.node.open > c.at || s.node.open < c.at && c.at <= s.node.close {
			continue
		}
		if machine != nil && s.machine == machine {
			inner := *s
			inner.machine = nil
			s = &inner
		}
		list = append(list, s)
	}
	return list
}

// own is the step whose block n is, nil if it is none.
func (n *names) own(b *node) *symbol {
	i := slices.IndexFunc(n.list, func(s *symbol) bool { return s.node == b && s.kind == kindStep })
	if i < 0 {
		return nil
	}
	return n.list[i]
}
