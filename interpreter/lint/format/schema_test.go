package format_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// schema is a JSON schema, as much of one as the test data use. "values" holds
// the values of all properties to a schema.
type schema struct {
	Ref         string             `json:"$ref"`
	Definitions map[string]*schema `json:"definitions"`
	Type        string             `json:"type"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Additional  *bool              `json:"additionalProperties"`
	Values      *schema            `json:"values"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Pattern     string             `json:"pattern"`
	Minimum     *float64           `json:"minimum"`
	MinItems    int                `json:"minItems"`
	Unique      bool               `json:"uniqueItems"`
}

// check lists where a value does not fit.
func (root *schema) check(s *schema, at string, v any) (faults []string) {
	if s.Ref != "" {
		return root.check(root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")], at, v)
	}
	if s.Type != "" && typeOf(v) != s.Type && !(s.Type == "number" && typeOf(v) == "integer") {
		return []string{fmt.Sprintf("%s is of type %s, not %s", at, typeOf(v), s.Type)}
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		faults = append(faults, fmt.Sprintf("%s is %v, none of %v", at, v, s.Enum))
	}
	switch v := v.(type) {
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			faults = append(faults, fmt.Sprintf("%s: %q does not match %s", at, v, s.Pattern))
		}
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			faults = append(faults, fmt.Sprintf("%s is %v", at, v))
		}
	case []any:
		faults = append(faults, root.checkArray(s, at, v)...)
	case map[string]any:
		faults = append(faults, root.checkObject(s, at, v)...)
	}
	return faults
}

func (root *schema) checkArray(s *schema, at string, v []any) (faults []string) {
	if len(v) < s.MinItems {
		faults = append(faults, fmt.Sprintf("%s has %d items", at, len(v)))
	}
	for i, e := range v {
		if s.Items != nil {
			faults = append(faults, root.check(s.Items, fmt.Sprintf("%s[%d]", at, i), e)...)
		}
		if s.Unique && slices.ContainsFunc(v[:i], func(o any) bool { return reflect.DeepEqual(o, e) }) {
			faults = append(faults, fmt.Sprintf("%s[%d] is there twice", at, i))
		}
	}
	return faults
}

func (root *schema) checkObject(s *schema, at string, v map[string]any) (faults []string) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			faults = append(faults, fmt.Sprintf("%s lacks %s", at, name))
		}
	}
	for name, value := range v {
		inner := s.Properties[name]
		switch {
		case inner != nil:
			faults = append(faults, root.check(inner, at+"."+name, value)...)
		case s.Values != nil:
			faults = append(faults, root.check(s.Values, at+"."+name, value)...)
		case s.Additional != nil && !*s.Additional:
			faults = append(faults, fmt.Sprintf("%s has no property %s", at, name))
		}
	}
	return faults
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// validate holds a document to a schema.
func validate(schemaText, document []byte) ([]string, error) {
	var root schema
	if err := json.Unmarshal(schemaText, &root); err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return nil, err
	}
	return root.check(&root, "$", v), nil
}
