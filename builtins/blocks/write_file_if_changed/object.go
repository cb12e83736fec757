package writefileifchanged

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// object is a JSON object that keeps the order of its keys. Values are
// *object, []any, json.Number, string, bool or nil.
type object struct {
	keys []string
	vals map[string]any
}

func newObject() *object { return &object{vals: map[string]any{}} }

func (o *object) set(key string, v any) {
	if _, ok := o.vals[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.vals[key] = v
}

func (o *object) remove(key string) {
	delete(o.vals, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// maxDepth bounds how deep JSON may nest.
const maxDepth = 500

// parseObject reads one JSON object and nothing else.
func parseObject(b []byte) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows after the end of the object")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		at := min(int(dec.InputOffset()), len(b))
		return nil, fmt.Errorf("not valid JSON near line %d: %w", 1+bytes.Count(b[:at], []byte("\n")), err)
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

func parseValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return parseMembers(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := parseValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

func parseMembers(dec *json.Decoder, depth int) (any, error) {
	o := newObject()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if _, twice := o.vals[name]; !ok || twice {
			return nil, fmt.Errorf("the key %q stands twice in one object", name)
		}
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		o.set(name, v)
	}
	_, err := dec.Token()
	return o, err
}

// text writes o with the indentation.
func (o *object) text(indent string) []byte {
	var out bytes.Buffer
	writeValue(&out, o, indent, "\n")
	return out.Bytes()
}

func writeValue(out *bytes.Buffer, v any, indent, newline string) {
	switch v := v.(type) {
	case *object:
		writeList(out, "{}", len(v.keys), newline, indent, func(i int) {
			writeScalar(out, v.keys[i])
			out.WriteString(": ")
			writeValue(out, v.vals[v.keys[i]], indent, newline+indent)
		})
	case []any:
		writeList(out, "[]", len(v), newline, indent, func(i int) { writeValue(out, v[i], indent, newline+indent) })
	default:
		writeScalar(out, v)
	}
}

func writeList(out *bytes.Buffer, brackets string, n int, newline, indent string, item func(int)) {
	if n == 0 {
		out.WriteString(brackets)
		return
	}
	out.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(newline + indent)
		item(i)
	}
	out.WriteString(newline + brackets[1:])
}

func writeScalar(out *bytes.Buffer, v any) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	// Strings, numbers that were parsed, bools and nil always encode.
	_ = enc.Encode(v)
	out.Truncate(out.Len() - 1)
}

func equal(a, b any) bool {
	x, ok := a.(*object)
	y, also := b.(*object)
	if !ok || !also {
		la, isList := a.([]any)
		lb, alsoList := b.([]any)
		if isList && alsoList {
			return slices.EqualFunc(la, lb, equal)
		}
		return !ok && !also && reflect.DeepEqual(a, b)
	}
	if len(x.keys) != len(y.keys) {
		return false
	}
	for key, v := range x.vals {
		if w, ok := y.vals[key]; !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// indentation is what the first line inside the object is indented with, four
// blanks where that cannot be seen.
func indentation(b []byte) string {
	lines := strings.Split(string(b), "\n")
	for _, line := range lines[1:] {
		rest := strings.TrimLeft(line, " \t")
		if rest = strings.TrimRight(rest, "\r"); rest != "" && rest != "}" {
			if len(line) > len(rest) {
				return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			}
			break
		}
	}
	return "    "
}
