package editor

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// definition is where what stands at a place is declared.
func (s *Service) definition(d *document, at int) []Location {
	if o := d.names().at(at); o != nil {
		return []Location{{d.uri, d.rangeOf(o.symbol.at)}}
	}
	for _, r := range d.names().refs {
		if len(r.parts) < 3 || r.parts[0].text != kindUse || !r.parts[2].at.holds(at) {
			continue
		}
		used := s.used(d, r.parts[1].text)
		if used == nil {
			continue
		}
		if o := used.names().find(kindOutput, "", r.parts[2].text, nil); o != nil {
			return []Location{{used.uri, used.rangeOf(o.at)}}
		}
	}
	if file := s.namedFile(d, at); file != "" {
		return []Location{{URI: uriOf(file)}}
	}
	return []Location{}
}

// namedFile is the file whose name is written at a place: an asset, or the
// recipe that is used.
func (s *Service) namedFile(d *document, at int) string {
	n := d.outline().root.blockAt(at)
	a := n.attrAt(at)
	if a == nil || d.path == "" {
		return ""
	}
	for _, tok := range d.outline().tokens[a.first:a.last] {
		if tok.Type != hclsyntax.TokenQuotedLit || !bytesOf(tok).holds(at) {
			continue
		}
		name := unquote(string(tok.Bytes))
		if n.kind == kindUse && a.name == "source" {
			return s.usedFile(d, name)
		}
		file := filepath.Join(filepath.Dir(d.path), filepath.FromSlash(name))
		if info, err := os.Stat(file); fs.ValidPath(name) && err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// usedFile is the file of the recipe that a relative source names, "" if it is
// none.
func (s *Service) usedFile(d *document, source string) string {
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") || d.path == "" {
		return ""
	}
	file := filepath.Join(filepath.Dir(d.path), filepath.FromSlash(source))
	if filepath.Ext(file) != ".hcl" {
		file = filepath.Join(file, eval.MainFile)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

// used is the recipe that a use block names, as the client has it or as it is
// saved; nil if there is none.
func (s *Service) used(d *document, label string) *document {
	u := d.names().find(kindUse, "", label, nil)
	if u == nil || u.node.attr("source") == nil {
		return nil
	}
	file := s.usedFile(d, unquote(strings.Trim(d.text.text(u.node.attr("source").value), `"`)))
	if file == "" {
		return nil
	}
	if open := s.documents.at(file); open != nil {
		return open
	}
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) > syntax.MaxFileSize {
		return nil
	}
	return newDocument(d.grammar, uriOf(file), 0, newText(string(raw)))
}

// references are the places that name what stands at a place.
func (s *Service) references(d *document, at int, declarations bool) []Location {
	list := []Location{}
	o := d.names().at(at)
	if o == nil {
		return list
	}
	for _, other := range d.names().of(o.symbol) {
		if declarations || !other.declares {
			list = append(list, Location{d.uri, d.rangeOf(other.at)})
		}
	}
	return list
}

// highlights are the same places for showing.
func (s *Service) highlights(d *document, at int) []Highlight {
	list := []Highlight{}
	o := d.names().at(at)
	if o == nil {
		return list
	}
	for _, other := range d.names().of(o.symbol) {
		kind := highlightRead
		if other.declares {
			kind = highlightWrite
		}
		list = append(list, Highlight{d.rangeOf(other.at), kind})
	}
	return list
}
