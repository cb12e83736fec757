package editor

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

// document is one version of a text that the client has open. It is not changed;
// what is worked out of it is worked out when it is first asked for.
type document struct {
	uri string
	// path is the file's, "" when it is none.
	path    string
	version int
	*text

	once    sync.Once
	grammar *grammar
	lines   *outline
	known   *names
}

func newDocument(g *grammar, uri string, version int, t *text) *document {
	return &document{uri: uri, path: pathOf(uri), version: version, text: t, grammar: g}
}

func (d *document) parse() {
	d.once.Do(func() {
		d.lines = newOutline(d.name(), d.clean)
		d.known = newNames(d.grammar, d.lines)
	})
}

func (d *document) outline() *outline {
	d.parse()
	return d.lines
}

func (d *document) names() *names {
	d.parse()
	return d.known
}

// name is what ranges show for the document.
func (d *document) name() string {
	if d.path != "" {
		return filepath.ToSlash(d.path)
	}
	return d.uri
}

// documentKind is how a document is looked at.
type documentKind int

const (
	kindRecipe documentKind = iota
	kindConfig              // the linter's configuration
	kindHCL                 // tests and inputs: their syntax only
	kindOther               // files of a recipe
)

func (d *document) kind() documentKind {
	base := path.Base(d.name())
	switch {
	case base == lint.ConfigFile:
		return kindConfig
	case strings.HasSuffix(base, ".test.hcl"):
		return kindHCL
	case base == eval.MainFile:
		return kindRecipe
	case path.Ext(base) != ".hcl" && d.path != "":
		return kindOther
	case recipeBlock().MatchString(d.raw):
		return kindRecipe
	}
	return kindHCL
}

func recipeBlock() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*recipe[ \t]+"`) }

// pathOf is the file that a URI names, "" when it names none.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	return filepath.Clean(filepath.FromSlash(u.Path))
}

// uriOf is the URI of a file.
func uriOf(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}
