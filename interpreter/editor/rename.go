package editor

import (
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/editor/rpc"
)

// prepareRename is where the name at a place stands, nil if it cannot be
// renamed.
func (s *Service) prepareRename(d *document, at int) *Range {
	o := d.names().at(at)
	if o == nil {
		return nil
	}
	r := d.rangeOf(o.at)
	return &r
}

// rename gives what stands at a place another name, wherever it is named.
func (s *Service) rename(d *document, at int, name string) (*WorkspaceEdit, error) {
	o := d.names().at(at)
	if o == nil {
		return nil, rpc.Errorf(rpc.RequestFailed, "there is no name here that can be changed")
	}
	if err := d.checkName(o.symbol, name); err != nil {
		return nil, err
	}
	edits := []TextEdit{}
	for _, other := range d.names().of(o.symbol) {
		at, text := other.at, name
		switch {
		case other.quoted:
			text = strings.TrimSuffix(strings.TrimPrefix(quote(name), `"`), `"`)
		case other.dotted && !hclsyntax.ValidIdentifier(name):
			at.from = strings.LastIndexByte(string(d.clean[:at.from]), '.') // the dot goes
			text = "[" + quote(name) + "]"
		}
		edits = append(edits, TextEdit{d.rangeOf(at), text})
	}
	return &WorkspaceEdit{map[string][]TextEdit{d.uri: edits}}, nil
}

// checkName says why a symbol cannot have a name.
func (d *document) checkName(s *symbol, name string) error {
	switch {
	case s.kind != kindStep && !hclsyntax.ValidIdentifier(name):
		return rpc.Errorf(rpc.RequestFailed, "%q is no name: it starts with a letter and has letters, digits, _ and - only", name)
	case name == "" || strings.ContainsFunc(name, unicode.IsControl):
		return rpc.Errorf(rpc.RequestFailed, "a label is one line of text")
	}
	if other := d.names().find(s.kind, s.typ, name, s.machine); other != nil && other != s {
		return rpc.Errorf(rpc.RequestFailed, "there is a %s %q on line %d already", strings.TrimSpace(s.typ+" "+s.kind), name, d.position(other.at.from).Line+1)
	}
	return nil
}
