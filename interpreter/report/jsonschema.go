package report

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
)

// schema is one schema of JSON Schema, as far as it is used here.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Type        any                `json:"type,omitempty"`
	Format      string             `json:"format,omitempty"`
	Const       string             `json:"const,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Defs        map[string]*schema `json:"$defs,omitempty"`
}

// JSONSchema is the JSON Schema (2020-12) of all documents and of the events,
// made from the types that write them: each under "$defs" by its name. more are documents that others write.
func JSONSchema(more ...Page) ([]byte, error) {
	root := &schema{
		Dialect: "https://json-schema.org/draft/2020-12/schema", Title: "hostler, JSON documents and events",
		Description: "One definition for each document of --output json, and \"event\" for each line of the commands that change a host. New members may join: ignore what you do not know.",
		Defs:        map[string]*schema{},
	}
	for _, page := range documentPages(more...) {
		s := schemaOf(reflect.TypeOf(page.Value))
		s.Title = page.Title
		root.Defs[page.schemaName()] = s
	}
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

// schemaName is what a document is called in the schema.
func (p Page) schemaName() string {
	first, _, _ := strings.Cut(p.Title, ",")
	return cmp.Or(p.Name, strings.ReplaceAll(first, " ", "-"))
}

// schemaOf is the schema of a type.
func schemaOf(t reflect.Type) *schema {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return &schema{}
		}
		return &schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object"}
	case reflect.Struct:
		if t.PkgPath() == "time" {
			return &schema{Type: "string", Format: "date-time"}
		}
		s := &schema{Type: "object", Properties: map[string]*schema{}}
		s.members(t)
		return s
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Interface:
		return &schema{Type: "object"}
	case reflect.Float64, reflect.Float32:
		return &schema{Type: "number"}
	}
	return &schema{Type: "integer"}
}

// members adds the members of a struct.
func (s *schema) members(t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			s.members(field.Type)
			continue
		}
		name, opts, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		member := schemaOf(field.Type)
		member.Description = field.Tag.Get("doc")
		if values := field.Tag.Get("enum"); values != "" {
			member.Enum = strings.Split(values, ",")
		}
		if name == "format_version" {
			member.Const = FormatVersion
		}
		optional := strings.Contains(opts, "omitempty")
		if field.Type.Kind() == reflect.Pointer && !optional {
			member.Type = []any{member.Type, "null"}
		}
		if !optional {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = member
	}
}
