package report

import (
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/block"
)

// VocabularyDocument is the language as tools read it: the document of schema.
type VocabularyDocument struct {
	FormatVersion string            `json:"format_version"`
	Language      int               `json:"language"`
	Blocks        []BlockSchema     `json:"blocks"`
	Functions     []FunctionSchema  `json:"functions"`
	Facts         map[string]string `json:"facts"`
}

// BlockSchema is one block type.
type BlockSchema struct {
	Name        string   `json:"name"`
	Version     int      `json:"version"`
	Summary     string   `json:"summary"`
	Description string   `json:"description,omitempty"`
	Checks      string   `json:"checks,omitempty"`
	Owns        string   `json:"owns,omitempty"`
	Resets      string   `json:"resets,omitempty"`
	HostOnly    bool     `json:"host_only"`
	Runs        bool     `json:"runs"`
	Preflight   bool     `json:"preflight"`
	Retryable   []string `json:"retryable"`
	Example     string   `json:"example,omitempty"`
	BodySchema
	Exports []AttributeSchema `json:"exports"`
}

// BodySchema is what may stand in a block.
type BodySchema struct {
	Attributes []AttributeSchema `json:"attributes"`
	Blocks     []NestedSchema    `json:"blocks"`
}

// NestedSchema is a block in a block.
type NestedSchema struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Labels      []string `json:"labels"`
	Min         int      `json:"min"`
	// Max is 0 for any number.
	Max int `json:"max"`
	// Steps says that steps stand in it.
	Steps bool `json:"steps"`
	BodySchema
}

// AttributeSchema is one argument. Type and Default are in the JSON of cty.
type AttributeSchema struct {
	Name        string          `json:"name"`
	Type        json.RawMessage `json:"type"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Values      []string        `json:"values,omitempty"`
	Grammar     string          `json:"grammar,omitempty"`
	Owned       bool            `json:"owned"`
	Sensitive   bool            `json:"sensitive"`
	References  bool            `json:"references"`
	Deprecated  string          `json:"deprecated,omitempty"`
}

// FunctionSchema is one function.
type FunctionSchema struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Parameters  []ParameterSchema `json:"parameters"`
	Variadic    *ParameterSchema  `json:"variadic,omitempty"`
}

// ParameterSchema is one parameter of a function.
type ParameterSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Type        json.RawMessage `json:"type"`
}

// NewVocabulary makes the document of a language.
func NewVocabulary(language int, types []*block.Type, functions map[string]function.Function, facts map[string]string) VocabularyDocument {
	doc := VocabularyDocument{FormatVersion: FormatVersion, Language: language, Blocks: []BlockSchema{}, Functions: []FunctionSchema{}, Facts: facts}
	for _, t := range types {
		retryable := []string{}
		for _, class := range t.Retryable {
			retryable = append(retryable, string(class))
		}
		doc.Blocks = append(doc.Blocks, BlockSchema{
			Name: t.Name, Version: t.Version, Summary: t.Doc.Summary, Description: t.Doc.Text, Checks: t.Doc.Checks, Owns: t.Doc.Owns, Resets: t.Doc.Resets,
			HostOnly: t.HostOnly, Runs: t.Runs, Preflight: t.Preflight, Retryable: retryable, Example: t.Example,
			BodySchema: bodySchema(t.Schema), Exports: attributeSchemas(t.Schema.Exports),
		})
	}
	for name, f := range functions {
		doc.Functions = append(doc.Functions, functionSchema(name, f))
	}
	slices.SortFunc(doc.Functions, func(a, b FunctionSchema) int { return compareNames(a.Name, b.Name) })
	return doc
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func bodySchema(s block.Schema) BodySchema {
	body := BodySchema{Attributes: attributeSchemas(s.Attrs), Blocks: []NestedSchema{}}
	for _, n := range s.Blocks {
		body.Blocks = append(body.Blocks, NestedSchema{
			Name: n.Name, Description: n.Doc, Labels: append([]string{}, n.Labels...), Min: n.Min, Max: n.Max, Steps: n.Steps, BodySchema: bodySchema(n.Schema),
		})
	}
	return body
}

func attributeSchemas(attrs []block.Attr) []AttributeSchema {
	list := []AttributeSchema{}
	for _, a := range attrs {
		one := AttributeSchema{
			Name: a.Name, Type: typeJSON(a.Type), Description: a.Doc, Required: a.Required, Values: a.OneOf, Grammar: a.Grammar,
			Owned: a.Owned, Sensitive: a.Sensitive, References: a.Refs, Deprecated: a.Deprecated,
		}
		if a.Default != cty.NilVal && a.Default.IsWhollyKnown() && !a.Default.IsNull() {
			one.Default, _ = ctyjson.Marshal(a.Default, a.Default.Type()) // defaults are plain
		}
		list = append(list, one)
	}
	return list
}

func typeJSON(ty cty.Type) json.RawMessage {
	text, err := ctyjson.MarshalType(ty)
	if err != nil {
		return json.RawMessage(`"dynamic"`)
	}
	return text
}

func functionSchema(name string, f function.Function) FunctionSchema {
	doc := FunctionSchema{Name: name, Description: f.Description(), Parameters: []ParameterSchema{}}
	for _, p := range f.Params() {
		doc.Parameters = append(doc.Parameters, ParameterSchema{p.Name, p.Description, typeJSON(p.Type)})
	}
	if p := f.VarParam(); p != nil {
		doc.Variadic = &ParameterSchema{p.Name, p.Description, typeJSON(p.Type)}
	}
	return doc
}
