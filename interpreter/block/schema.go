package block

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"hostler/interpreter/host"
)

// Schema describes the arguments of a block type.
type Schema struct {
	Attrs  []Attr
	Blocks []Nested
	// Exports are the attributes that later steps may read.
	Exports []Attr
}

// Attr is one argument.
type Attr struct {
	Name string
	Doc  string
	Type cty.Type
	// Required attributes must be set and not null.
	Required bool
	// Default is the value when it is not set or null; cty.NilVal means null.
	Default cty.Value
	// Owned says that an owned name comes from it: only var, local, facts,
	// ownership() and each may be used, and the value must be known.
	Owned bool
	// Sensitive says that a sensitive value is legal here: it is stored as a
	// hole.
	Sensitive bool
	// Bulk says that the value may be large: claims store its digest.
	Bulk bool
	// BulkUnless names an attribute that, when it is set, makes claims store
	// a bulky value whole: undoing needs it.
	BulkUnless string
	// Refs says that the value is a list of references to earlier steps; it
	// is evaluated to their addresses (list of string).
	Refs bool
	// Asset says that the value is the name of a file of the recipe.
	Asset bool
	// Convert, if set, brings a known value to Type before the usual
	// conversion; its error text becomes the diagnostic's detail.
	Convert func(cty.Value) (cty.Value, error)
	// Check, if set, is called with every known, non-null value after
	// conversion; its error text, a sentence that says what to write instead,
	// becomes the diagnostic's detail.
	Check func(cty.Value) error
	// Grammar names the kind of value in the documentation: "mode",
	// "duration", "absolute path", "argv", "unit name", "one of a, b".
	Grammar string
	// LabelOf is the block type one of whose labels in the recipe the value
	// must be.
	LabelOf string
	// OneOf lists the only values of a string attribute.
	OneOf []string
	// Runs says that the argument starts or stops something; see Type.Runs.
	Runs bool
	// Deprecated says what to use instead.
	Deprecated string
}

// Nested is one kind of nested block.
type Nested struct {
	Name   string
	Doc    string
	Labels []string // names of the labels; evaluated as attributes of that name
	Min    int
	Max    int // 0: any number
	Schema Schema
	// Steps says that the body holds steps, not arguments; see Type.Phases.
	Steps bool
	// Actions says that order between nested blocks of different names with
	// Actions matters: each gets an attribute "position" (number, from 0).
	Actions bool
	// PerSlot says that the block is evaluated once for each slot of a
	// machine with self bound to it; each value gets an attribute "slot".
	PerSlot bool
}

// Args are the evaluated arguments of one block.
type Args struct {
	Address string
	Label   string
	// Phase is the part to make, "" for types without phases.
	Phase string
	// Value is an object of Schema.Type(), without marks. A hole is null.
	Value cty.Value
	// Holes are the values that are not there, by attribute path
	// ("content", "drop_in[0].content").
	Holes map[string]Hole
	// Secret are the attribute paths whose value is sensitive, holes or not.
	Secret map[string]bool
	// Ranges are the expressions of attributes by the same paths, and "" the
	// block's header; nil when the arguments come from a record.
	Ranges map[string]hcl.Range
	// Assets reads the recipe's files.
	Assets Assets
	// Facts are those of the host, Prefix the install prefix.
	Facts  host.Facts
	Prefix string
	// Self is the slot being built or active, for types with slots.
	Self string
}

// Hole is a value that is not stored: a sensitive one (Keyed is a keyed hash
// of its digest), or a bulky one in a claim (Digest is plain).
type Hole struct {
	Keyed  string `json:"keyed,omitempty"`
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size,omitempty"`
	// Vars are the sensitive variables it is made of.
	Vars []string `json:"vars,omitempty"`
}

// Export is one exported attribute.
type Export struct {
	Value cty.Value
	// Registered, if not empty, are names of machines: the value is whether
	// one of them is registered, asked once, before the run changes anything.
	Registered []string
}

// Into fills a struct whose fields have cty tags, one for each attribute and
// nested block of the schema. Null becomes nil for pointers, slices and maps
// and is an error for others.
func (a Args) Into(target any) error { return gocty.FromCtyValue(a.Value, target) }

// Range is the range of an attribute, or of the block where the attribute is
// not written; nil when there are none.
func (a Args) Range(attr string) *hcl.Range {
	for _, name := range []string{attr, ""} {
		if r, ok := a.Ranges[name]; ok {
			return &r
		}
	}
	return nil
}

// Errorf is a diagnostic about an attribute of the block.
func (a Args) Fault(attr, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: a.Range(attr)}
}

// Type is the object type that arguments evaluate to: attributes, labels of
// nested blocks, and each kind of nested block as a list of objects (Steps
// blocks left out).
func (s Schema) Type() cty.Type { return s.objectType(nil, false, false) }

func (s Schema) objectType(labels []string, position, slot bool) cty.Type {
	attrs := map[string]cty.Type{}
	for _, a := range s.Attrs {
		attrs[a.Name] = a.Type
	}
	for _, label := range labels {
		attrs[label] = cty.String
	}
	if position {
		attrs["position"] = cty.Number
	}
	if slot {
		attrs["slot"] = cty.String
	}
	for _, n := range s.Blocks {
		if n.Steps {
			continue
		}
		attrs[n.Name] = cty.List(n.Schema.objectType(n.Labels, n.Actions, n.PerSlot))
	}
	return cty.Object(attrs)
}
