package editor

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/block"
)

// members offers what may follow the names of a reference and a dot.
func (c *completer) members(at span, path []string) {
	switch root := path[0]; {
	case root == "var" && len(path) == 1:
		c.declared(at, kindVariable, itemVariable)
	case root == "local" && len(path) == 1:
		c.declared(at, kindLocal, itemConstant)
	case root == "use" && len(path) == 1:
		c.declared(at, kindUse, itemModule)
	case root == "use" && len(path) == 2:
		c.outputs(at, path[1])
	case root == "each" && len(path) == 1:
		c.add(0, at, "key", "key", CompletionItem{Kind: itemField, Documentation: shown("The key of this instance.")})
		c.add(0, at, "value", "value", CompletionItem{Kind: itemField, Documentation: shown("The value of this instance.")})
	case root == "self" && len(path) == 1:
		c.add(0, at, "name", "name", CompletionItem{Kind: itemField, Documentation: shown("The name of the slot.")})
		c.add(0, at, "root", "root", CompletionItem{Kind: itemField, Documentation: shown("The root directory of the slot.")})
	case root == "host":
		c.hostFacts(at, strings.Join(path, ".")+".")
	case c.grammar.vocab.Type(root) != nil:
		c.ofStep(at, path)
	}
}

// declared offers the symbols of a kind.
func (c *completer) declared(at span, kind string, item int) {
	for _, s := range c.document.names().list {
		if s.kind == kind {
			c.add(0, at, s.name, s.name, CompletionItem{Kind: item, Detail: c.brief(s), Documentation: shown(c.describe(s))})
		}
	}
}

// hostFacts offers facts below a prefix.
func (c *completer) hostFacts(at span, prefix string) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.grammar.facts)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		first, _, more := strings.Cut(rest, ".")
		doc := c.grammar.facts[name]
		if more {
			doc = "What os-release(5) says."
		}
		if !seen[first] {
			c.add(0, at, first, first, CompletionItem{Kind: itemField, Documentation: shown(doc)})
		}
		seen[first] = true
	}
}

// ofStep offers labels of a type, or what a step exports.
func (c *completer) ofStep(at span, path []string) {
	if len(path)%2 == 1 {
		c.labels(at, path, true)
		return
	}
	t := c.grammar.vocab.Type(path[len(path)-2])
	if t == nil {
		return
	}
	for _, e := range t.Schema.Exports {
		c.add(0, at, e.Name, e.Name, CompletionItem{Kind: itemField, Detail: kindOfValue(e), Documentation: shown(e.Doc)})
	}
	if len(path) == 2 && holdsSteps(t) {
		if machine := c.document.names().find(kindStep, path[0], path[1], nil); machine != nil {
			for _, name := range c.typesIn(machine) {
				c.add(1, at, name, name, CompletionItem{Kind: itemClass})
			}
		}
	}
}

// typesIn are the types of the steps nested in a machine.
func (c *completer) typesIn(machine *symbol) []string {
	types := map[string]bool{}
	for _, s := range c.document.names().list {
		if s.machine == machine && s.kind == kindStep {
			types[s.typ] = true
		}
	}
	return slices.Sorted(maps.Keys(types))
}

// labels offers the labels of a type: after a dot those that are identifiers,
// and the others in brackets, which take the dot away.
func (c *completer) labels(at span, path []string, dotted bool) {
	typ := path[len(path)-1]
	var machine *symbol
	if len(path) > 2 {
		machine = c.document.names().find(kindStep, path[0], path[1], nil)
	}
	for _, s := range c.reachable() {
		if s.typ != typ || s.machine != machine {
			continue
		}
		item := CompletionItem{Kind: itemReference, Detail: "step", InsertTextFormat: 1, FilterText: s.name}
		switch plain := hclsyntax.ValidIdentifier(s.name); {
		case !dotted:
			c.add(0, at, s.name, strings.Trim(quote(s.name), `"`), item)
		case plain:
			c.add(0, at, s.name, s.name, item)
		default:
			item.FilterText = "." + s.name
			c.add(1, span{at.from - 1, at.to}, s.name, "["+quote(s.name)+"]", item)
		}
	}
}

// outputs offers the outputs of a used recipe.
func (c *completer) outputs(at span, label string) {
	used := c.service.used(c.document, label)
	if used == nil {
		return
	}
	for _, s := range used.names().list {
		if s.kind == kindOutput {
			c.add(0, at, s.name, s.name, CompletionItem{Kind: itemField, Documentation: shown(describe(used, s))})
		}
	}
}

// kindOfValue says what an argument takes.
func kindOfValue(a block.Attr) string {
	switch {
	case a.Refs:
		return "list of steps"
	case a.Grammar != "":
		return a.Grammar
	case len(a.OneOf) > 0:
		return strings.Join(a.OneOf, " | ")
	}
	return a.Type.FriendlyNameForConstraint()
}

// attrDoc documents an argument.
func attrDoc(a block.Attr) string {
	var out bytes.Buffer
	out.WriteString(a.Doc)
	var notes []string
	if a.Required {
		notes = append(notes, "required")
	}
	if a.Sensitive {
		notes = append(notes, "may be sensitive")
	}
	if a.Asset {
		notes = append(notes, "a file of the recipe")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&out, "\n\n*%s*", strings.Join(notes, ", "))
	}
	if a.Deprecated != "" {
		out.WriteString("\n\nDeprecated: " + a.Deprecated)
	}
	return out.String()
}
