package report

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Page is a document on the reference page.
type Page struct {
	// Title names the commands that write it.
	Title string
	// Name is what it is called in the schema; "" is the first command.
	Name string
	// Value is of the document's type.
	Value any
}

// EventsPage is the reference page of JSON documents and events, made from the
// types that write them. more are documents that others write.
func EventsPage(more ...Page) string {
	var out strings.Builder
	out.WriteString("# JSON documents and events\n\n" +
		"`--output json` writes one document, or one event a line for the commands that change a host. Every one has\n" +
		"`\"format_version\": \"1\"`. A field once released keeps its name and meaning; new ones may join, so ignore what you do not know.\n\n" +
		"[schema.json](schema.json) has all of this as JSON Schema.\n\n" +
		"A command that fails before its document can be made writes the document of `validate`, with `\"valid\": false`.\n")
	for _, page := range documentPages(more...) {
		fmt.Fprintf(&out, "\n## %s\n\n", page.Title)
		fields(&out, reflect.TypeOf(page.Value), "")
	}
	return out.String()
}

// documentPages are all documents, the events last.
func documentPages(more ...Page) []Page {
	pages := append([]Page{
		{Title: "validate", Value: Validation{}}, {Title: "plan, verify, reset --plan", Value: Plan{}},
		{Title: "status", Value: Status{}}, {Title: "preflight", Value: Preflight{}},
	}, more...)
	return append(pages, Page{Title: "recipes list", Value: Recipes{}}, Page{Title: "recipes show", Value: RecipeDetail{}}, Page{Title: "version", Value: Version{}},
		Page{Title: "Events of apply, ensure, adopt, reset", Name: "event", Value: line{}})
}

// fields lists the JSON members of a struct, nested ones indented.
func fields(out *strings.Builder, t reflect.Type, indent string) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			fields(out, field.Type, indent)
			continue
		}
		name, opts, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		inner, kind := jsonKind(field.Type)
		if strings.Contains(opts, "omitempty") {
			kind += ", may be absent"
		}
		fmt.Fprintf(out, "%s* `%s` (%s)", indent, name, kind)
		if doc := field.Tag.Get("doc"); doc != "" {
			out.WriteString(": " + doc)
		}
		out.WriteString("\n")
		if inner != nil {
			fields(out, inner, indent+"  ")
		}
	}
}

// jsonKind names a type as JSON knows it; inner is the struct it holds.
func jsonKind(t reflect.Type) (inner reflect.Type, kind string) {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return nil, "any JSON value"
		}
		inner, kind = jsonKind(t.Elem())
		return inner, "array of " + kind
	case reflect.Struct:
		if t.PkgPath() == "time" {
			return nil, "RFC 3339 time"
		}
		return t, "object"
	case reflect.String:
		return nil, "string"
	case reflect.Bool:
		return nil, "boolean"
	case reflect.Interface:
		return nil, "object"
	}
	return nil, "number"
}
