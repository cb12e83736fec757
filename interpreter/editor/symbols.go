package editor

import "strings"

// symbols are the blocks and arguments of a document, as a tree.
func (s *Service) symbols(d *document) []DocumentSymbol {
	if d.kind() == kindOther {
		return []DocumentSymbol{}
	}
	return d.symbolsIn(d.outline().root)
}

func (d *document) symbolsIn(n *node) []DocumentSymbol {
	list := []DocumentSymbol{}
	for _, b := range n.blocks {
		sym := DocumentSymbol{Name: b.kind, Kind: d.symbolKind(b), Range: d.rangeOf(span{b.at.from, min(b.close+1, len(d.clean))}), SelectionRange: d.rangeOf(b.at)}
		if len(b.labels) > 0 {
			var names []string
			for _, l := range b.labels {
				names = append(names, l.text)
			}
			sym.Detail = b.kind
			sym.Name = strings.TrimSpace(strings.Join(names, " "))
			if sym.Name == "" { // clients refuse symbols without a name
				sym.Name, sym.Detail = b.kind, ""
			}
			if l := b.labels[0].at; l.to <= b.close {
				sym.SelectionRange = d.rangeOf(l)
			}
		}
		sym.Children = d.symbolsIn(b)
		list = append(list, sym)
	}
	if n.kind != "locals" {
		return list
	}
	for _, a := range n.attrs {
		list = append(list, DocumentSymbol{Name: a.name, Kind: symbolConstant, Range: d.rangeOf(span{a.at.from, max(a.at.to, a.value.to)}), SelectionRange: d.rangeOf(a.at)})
	}
	return list
}

func (d *document) symbolKind(n *node) int {
	switch n.kind {
	case "recipe":
		return symbolModule
	case kindVariable:
		return symbolVariable
	case kindOutput:
		return symbolProperty
	case "locals", kindUse, "stage":
		return symbolNamespace
	}
	if d.grammar.vocab.Type(n.kind) != nil {
		return symbolObject
	}
	return symbolStruct
}
