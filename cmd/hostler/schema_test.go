package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hostler/testdata/demo/fixture"
)

// jsonSchema is a JSON Schema, as much of one as docs/reference/schema.json
// uses.
type jsonSchema struct {
	Type       any                    `json:"type"`
	Const      *string                `json:"const"`
	Enum       []string               `json:"enum"`
	Properties map[string]*jsonSchema `json:"properties"`
	Required   []string               `json:"required"`
	Items      *jsonSchema            `json:"items"`
	Defs       map[string]*jsonSchema `json:"$defs"`
}

// faults lists where a value does not fit. A member that the schema does not
// name is a fault too: what is written is documented.
func (s *jsonSchema) faults(at string, v any) (list []string) {
	if s.Type != nil && !slices.Contains(s.types(), jsonType(v)) {
		return []string{fmt.Sprintf("%s is %s, not %v", at, jsonType(v), s.Type)}
	}
	switch v := v.(type) {
	case string:
		if s.Const != nil && v != *s.Const || s.Enum != nil && !slices.Contains(s.Enum, v) {
			list = append(list, fmt.Sprintf("%s is %q", at, v))
		}
	case []any:
		for i, e := range v {
			if s.Items == nil {
				break
			}
			list = append(list, s.Items.faults(fmt.Sprintf("%s[%d]", at, i), e)...)
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				list = append(list, at+" lacks "+name)
			}
		}
		for name, e := range v {
			if s.Properties == nil {
				continue
			}
			if inner := s.Properties[name]; inner == nil {
				list = append(list, at+" has "+name)
			} else {
				list = append(list, inner.faults(at+"."+name, e)...)
			}
		}
	}
	return list
}

func (s *jsonSchema) types() (names []string) {
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, e := range t {
			names = append(names, e.(string))
		}
	}
	if slices.Contains(names, "number") {
		names = append(names, "integer")
	}
	return names
}

func jsonType(v any) string {
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

func TestSchemaFaults(t *testing.T) {
	one := "1"
	s := &jsonSchema{Type: "object", Required: []string{"a"}, Properties: map[string]*jsonSchema{
		"a": {Type: "string", Const: &one}, "b": {Type: "array", Items: &jsonSchema{Type: []any{"integer", "null"}}}, "c": {Type: "string", Enum: []string{"x"}},
	}}
	for text, want := range map[string]int{
		`{"a":"1","b":[1,null],"c":"x"}`: 0, `{}`: 1, `{"a":"2"}`: 1, `{"a":"1","b":[1.5,"x"]}`: 2, `{"a":"1","c":"y","d":1}`: 2, `[]`: 1,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := s.faults("$", v); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}

// TestDocsSchema holds what commands write on a host to the schema, and
// every document of the schema to being written by one.
func TestDocsSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(referenceDir, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var root jsonSchema
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	host, site := filepath.Join(dir, "host"), filepath.Join(dir, "site")
	recipe := "recipe \"site\" {\n  language = 1\n  version = \"1.0.0\"\n  supports \"debian\" {\n    id = \"debian\"\n  }\n  fingerprint = fingerprint({ a = \"1\" })\n}\n\n" +
		"output \"greeting\" {\n  value = \"hello\"\n}\n\nstage \"files\" {\n  write_file_if_changed \"motd\" {\n    path    = \"/etc/site.conf\"\n    content = \"x\\n\"\n  }\n}\n\n" +
		"systemd_unit \"site.service\" {\n  content = \"[Service]\\nExecStart=/usr/bin/site\\n[Install]\\nWantedBy=multi-user.target\\n\"\n  enable = true\n  state = \"started\"\n  restart = \"never\"\n}\n"
	if err := errors.Join(fixture.Debian(host), os.MkdirAll(site, 0o755), os.WriteFile(filepath.Join(site, "recipe.hcl"), []byte(recipe), 0o644)); err != nil {
		t.Fatal(err)
	}
	tested := "test \"goes\" {\n  host {\n    os_release = \"ID=debian\\nVERSION_ID=12\\n\"\n  }\n  run \"apply\" {}\n}\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(site, "tests"), 0o755), os.WriteFile(filepath.Join(site, "tests/a.test.hcl"), []byte(tested), 0o644)); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.hcl")
	if err := os.WriteFile(broken, []byte(strings.Replace(recipe, "\"/etc", "mode = 0644\n path = \"/etc", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, run := range []struct{ name, command string }{
		{"validate", "validate " + site}, {"validate", "validate " + broken}, {"lint", "lint " + site}, {"lint", "lint " + broken}, {"test", "test " + site},
		{"facts", "facts --root " + host}, {"preflight", "preflight " + site + " --root " + host}, {"plan", "plan " + site + " --root " + host},
		{"event", "apply " + site + " --root " + host}, {"status", "status --root " + host}, {"event", "ensure --root " + host}, {"plan", "verify --root " + host},
		{"why", "why path:/etc/site.conf --root " + host}, {"history", "history --root " + host}, {"plan", "reset --plan --root " + host}, {"event", "reset --root " + host},
		{"status", "status --root " + host}, {"event", "apply " + broken + " --root " + host},
		{"test", "test --no-laws --coverage ../../examples/metrics-site"}, {"matrix", "matrix ../../examples/metrics-site --facts ../../testdata/os-release"},
		{"recipes-list", "recipes list"}, {"recipes-show", "recipes show debian/12/nspawn-worker"}, {"version", "version"},
	} {
		seen[run.name] = true
		out, notes, _ := runProgram(append(strings.Fields(run.command), "--output", "json")...)
		checkOutput(t, &root, run.name, run.command, out, notes)
	}
	for name := range root.Defs {
		if !seen[name] && name != "sink" && name != "history-show" {
			t.Errorf("no command of this test writes %s", name)
		}
	}
}

func checkOutput(t *testing.T, root *jsonSchema, name, command, out, notes string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	for n := 0; ; n++ {
		var v any
		if err := dec.Decode(&v); err != nil {
			if n == 0 {
				t.Errorf("hostler %s wrote %q, %q", command, out, notes)
			}
			return
		}
		s := root.Defs[name]
		if m, ok := v.(map[string]any); ok && m["valid"] == false && name == "event" {
			s = root.Defs["validate"] // what failed before there was a run
		}
		for _, fault := range s.faults(name, v) {
			t.Errorf("hostler %s: %s", command, fault)
		}
	}
}
