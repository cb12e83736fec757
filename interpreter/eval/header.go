package eval

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/syntax"
)

// LanguageVersion is the version of the recipe language that this package
// speaks.
const LanguageVersion = 1

// DefaultPrefix is the install prefix when nothing says otherwise.
const DefaultPrefix = "/usr/local"

// Header is what a recipe says about itself.
type Header struct {
	Name        string
	Version     string
	Description string
	Language    int
	Interpreter string // constraint, "" for none
	Supports    []Support
}

// Support is a kind of host that a recipe supports; empty fields match any.
type Support struct {
	Name          string
	ID            string
	IDLike        string // one of the words of ID_LIKE
	VariantID     string
	VersionID     string // constraint
	DefaultPrefix string
}

type header struct {
	Header
	fingerprint hclsyntax.Expression
	versions    []constraint // of Supports, by index
	rng         hcl.Range
}

// Header is what the recipe says about itself.
func (r *Recipe) Header() Header { return r.header.Header }

// readHeader decodes the recipe block. It is false when reading on makes no
// sense: the recipe is for another language or another interpreter.
func (r *Recipe) readHeader() bool {
	var blocks []*hclsyntax.Block
	for _, b := range r.file.Body.Blocks {
		if b.Type == "recipe" {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		at := hcl.Range{Filename: r.file.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
		r.errorf(at, "No recipe block", "A recipe starts with one block recipe \"NAME\" { language = %d … }. Write it at the top of the file.", LanguageVersion)
		return true
	}
	for _, b := range blocks[1:] {
		r.errorf(b.DefRange(), "Second recipe block", "A recipe has exactly one recipe block; the first is at %s. Remove this one.", where(blocks[0].DefRange()))
	}
	return r.decodeHeader(blocks[0])
}

func (r *Recipe) decodeHeader(b *hclsyntax.Block) bool {
	h := &r.header
	h.rng = b.DefRange()
	if label, ok := r.oneLabel(b, "recipe", "the recipe's name"); ok {
		h.Name = label
		r.checkIdentifier(b.LabelRanges[0], label, "recipe")
	}
	attrs := r.constants(b.Body, "language", "version", "description", "interpreter", "fingerprint")
	if !r.checkLanguage(attrs["language"], b) || !r.checkInterpreter(attrs["interpreter"]) {
		return false
	}
	r.checkRecipeVersion(attrs["version"], b)
	if a := attrs["description"]; a != nil {
		h.Description, _ = r.constantString(a)
	}
	if a := attrs["fingerprint"]; a != nil {
		h.fingerprint = r.fingerprintCall(a)
	}
	for _, inner := range b.Body.Blocks {
		if inner.Type == "supports" {
			r.readSupport(inner)
			continue
		}
		r.errorf(inner.TypeRange, "Unknown block", "A recipe block has nested blocks \"supports\" only.%s", didYouMean(inner.Type, []string{"supports"}))
	}
	if len(h.Supports) == 0 {
		r.errorf(h.rng, "No supported host", "Say which hosts the recipe supports: write one or more blocks supports \"NAME\" { id = \"debian\" }. A host that matches none is refused.")
	}
	return true
}

func (r *Recipe) checkLanguage(a *hclsyntax.Attribute, b *hclsyntax.Block) bool {
	if a == nil {
		r.errorf(b.DefRange(), "Missing language version", "Write language = %d, the version of the language that the recipe is written in.", LanguageVersion)
		return true
	}
	v, ok := r.constant(a)
	if !ok {
		return true
	}
	if v.Type() != cty.Number || v.IsNull() || !v.RawEquals(cty.NumberIntVal(LanguageVersion)) {
		r.errorf(a.Expr.Range(), "Other language version", "This interpreter speaks version %d of the language. Write language = %d, or run an interpreter that knows the version asked for.", LanguageVersion, LanguageVersion)
		return false
	}
	r.header.Language = LanguageVersion
	return true
}

func (r *Recipe) checkRecipeVersion(a *hclsyntax.Attribute, b *hclsyntax.Block) {
	if a == nil {
		r.errorf(b.DefRange(), "Missing recipe version", "Write version = \"1.0.0\", the semantic version of the recipe.")
		return
	}
	s, ok := r.constantString(a)
	if !ok {
		return
	}
	if _, err := semver.StrictNewVersion(s); err != nil {
		r.errorf(a.Expr.Range(), "Invalid recipe version", "%q is no semantic version. Write three numbers, for example \"1.2.0\".", s)
		return
	}
	r.header.Version = s
}

// checkInterpreter is false when the recipe wants another interpreter.
func (r *Recipe) checkInterpreter(a *hclsyntax.Attribute) bool {
	if a == nil {
		return true
	}
	c, text, ok := r.constraint(a)
	if !ok {
		return true
	}
	r.header.Interpreter = text
	v, err := parseVersion(r.version)
	if r.version == "" || err != nil || c.allows(v) {
		return true
	}
	r.errorf(a.Expr.Range(), "Other interpreter wanted", "The recipe wants interpreter %s and this is %s. Run a release that fits.", text, r.version)
	return false
}

func (r *Recipe) constraint(a *hclsyntax.Attribute) (constraint, string, bool) {
	s, ok := r.constantString(a)
	if !ok {
		return nil, "", false
	}
	c, err := parseConstraint(s)
	if err != nil {
		r.errorf(a.Expr.Range(), "Invalid version constraint", "%s.", capital(err.Error()))
		return nil, "", false
	}
	return c, s, true
}

func (r *Recipe) readSupport(b *hclsyntax.Block) {
	var s Support
	label, ok := r.oneLabel(b, "supports", "a name for the kind of host")
	if ok {
		s.Name = label
	}
	for _, other := range r.header.Supports {
		if ok && other.Name == label {
			r.errorf(b.LabelRanges[0], "Duplicate name", "There is a supports block %q already. Give this one another name.", label)
		}
	}
	attrs := r.constants(b.Body, "id", "id_like", "variant_id", "version_id", "default_prefix")
	fields := map[string]*string{"id": &s.ID, "id_like": &s.IDLike, "variant_id": &s.VariantID, "default_prefix": &s.DefaultPrefix}
	for name, field := range fields {
		if a := attrs[name]; a != nil {
			*field, _ = r.constantString(a)
		}
	}
	var c constraint
	if a := attrs["version_id"]; a != nil {
		c, s.VersionID, _ = r.constraint(a)
	}
	if a := attrs["default_prefix"]; a != nil && s.DefaultPrefix != "" {
		r.checkPrefix(a.Expr.Range(), s.DefaultPrefix)
	}
	for _, inner := range b.Body.Blocks {
		r.errorf(inner.TypeRange, "Unknown block", "A supports block has no nested blocks.")
	}
	r.header.Supports = append(r.header.Supports, s)
	r.header.versions = append(r.header.versions, c)
}

// constants are the attributes of a block that knows these names only.
func (r *Recipe) constants(body *hclsyntax.Body, names ...string) map[string]*hclsyntax.Attribute {
	attrs := map[string]*hclsyntax.Attribute{}
	for _, a := range syntax.Attributes(body) {
		if !slices.Contains(names, a.Name) {
			r.errorf(a.NameRange, "Unknown argument", "There is no argument %q here; write %s.%s", a.Name, oneOf(names), didYouMean(a.Name, names))
			continue
		}
		attrs[a.Name] = a
	}
	return attrs
}
