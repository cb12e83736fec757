package block

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/thing"
)

// holeKey marks a hole in plain data. It cannot be an attribute's name.
const holeKey = "$hole"

// slimAbove is the size in bytes from which a claim stores a bulky value's
// digest instead of the value.
const slimAbove = 256

// Plain encodes evaluated arguments as plain data: canonical JSON with nulls
// left out and holes, by attribute path, in place of the values they stand
// for. v must be known and without marks, except at holes.
func Plain(s Schema, v cty.Value, holes map[string]Hole) (json.RawMessage, error) {
	obj, err := plainObject(s, nil, v, "", holes)
	if err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}

func plainObject(s Schema, extra []string, v cty.Value, path string, holes map[string]Hole) (map[string]json.RawMessage, error) {
	obj := map[string]json.RawMessage{}
	put := func(name string, ty cty.Type) error {
		raw, err := plainValue(v.GetAttr(name), ty, path+name, holes)
		if err == nil && raw != nil {
			obj[name] = raw
		}
		return err
	}
	for _, a := range s.Attrs {
		if err := put(a.Name, a.Type); err != nil {
			return nil, err
		}
	}
	for _, name := range extra {
		if err := put(name, v.Type().AttributeType(name)); err != nil {
			return nil, err
		}
	}
	for _, n := range s.Blocks {
		if n.Steps {
			continue
		}
		raw, err := plainBlocks(n, v.GetAttr(n.Name), path+n.Name, holes)
		if err != nil {
			return nil, err
		}
		if raw != nil {
			obj[n.Name] = raw
		}
	}
	return obj, nil
}

func plainBlocks(n Nested, list cty.Value, path string, holes map[string]Hole) (json.RawMessage, error) {
	if list.IsNull() || !list.IsKnown() || list.LengthInt() == 0 {
		return nil, nil
	}
	var objs []map[string]json.RawMessage
	for i, v := range list.AsValueSlice() {
		obj, err := plainObject(n.Schema, n.extra(), v, fmt.Sprintf("%s[%d].", path, i), holes)
		if err != nil {
			return nil, err
		}
		objs = append(objs, obj)
	}
	return json.Marshal(objs)
}

// extra are the attributes that a nested block has beside its schema's.
func (n Nested) extra() []string {
	names := append([]string(nil), n.Labels...)
	if n.Actions {
		names = append(names, "position")
	}
	if n.PerSlot {
		names = append(names, "slot")
	}
	return names
}

func plainValue(v cty.Value, ty cty.Type, path string, holes map[string]Hole) (json.RawMessage, error) {
	if hole, ok := holes[path]; ok {
		return json.Marshal(map[string]Hole{holeKey: hole})
	}
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsWhollyKnown() {
		return nil, fmt.Errorf("%s: an unknown value cannot be stored", path)
	}
	return ctyjson.Marshal(v, ty)
}

// ParsePlain decodes plain data. Holes are null in the value and returned by
// attribute path. Attributes that the schema does not know are an error.
func ParsePlain(s Schema, data json.RawMessage) (cty.Value, map[string]Hole, error) {
	holes := map[string]Hole{}
	v, err := parseObject(s, nil, data, "", holes)
	return v, holes, err
}

func parseObject(s Schema, n *Nested, data json.RawMessage, path string, holes map[string]Hole) (cty.Value, error) {
	obj, err := members(data)
	if err != nil {
		return cty.NilVal, fmt.Errorf("%s: %w", path, err)
	}
	vals := map[string]cty.Value{}
	take := func(name string, ty cty.Type) (err error) {
		vals[name], err = parseValue(obj[name], ty, path+name, holes)
		delete(obj, name)
		return err
	}
	for _, a := range s.Attrs {
		if err := take(a.Name, a.Type); err != nil {
			return cty.NilVal, err
		}
	}
	if n != nil {
		ty := s.objectType(n.Labels, n.Actions, n.PerSlot)
		for _, name := range n.extra() {
			if err := take(name, ty.AttributeType(name)); err != nil {
				return cty.NilVal, err
			}
		}
	}
	for _, inner := range s.Blocks {
		if inner.Steps {
			continue
		}
		list, err := parseBlocks(inner, obj[inner.Name], path+inner.Name, holes)
		if err != nil {
			return cty.NilVal, err
		}
		vals[inner.Name] = list
		delete(obj, inner.Name)
	}
	for name := range obj {
		return cty.NilVal, fmt.Errorf("%s%s: not an attribute of this version of the block", path, name)
	}
	return cty.ObjectVal(vals), nil
}

func parseBlocks(n Nested, data json.RawMessage, path string, holes map[string]Hole) (cty.Value, error) {
	elem := n.Schema.objectType(n.Labels, n.Actions, n.PerSlot)
	if len(data) == 0 {
		return cty.ListValEmpty(elem), nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return cty.NilVal, fmt.Errorf("%s: %w", path, err)
	}
	if len(raws) == 0 {
		return cty.ListValEmpty(elem), nil
	}
	var vals []cty.Value
	for i, raw := range raws {
		v, err := parseObject(n.Schema, &n, raw, fmt.Sprintf("%s[%d].", path, i), holes)
		if err != nil {
			return cty.NilVal, err
		}
		vals = append(vals, v)
	}
	return cty.ListVal(vals), nil
}

func parseValue(data json.RawMessage, ty cty.Type, path string, holes map[string]Hole) (cty.Value, error) {
	if len(data) == 0 {
		return cty.NullVal(ty), nil
	}
	if hole, ok := parseHole(data); ok {
		holes[path] = hole
		return cty.NullVal(ty), nil
	}
	if v, ok := parsePrimitive(data, ty); ok {
		return v, nil
	}
	v, err := ctyjson.Unmarshal(data, ty)
	if err != nil {
		return cty.NilVal, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// parsePrimitive decodes the texts and switches that most values are, without
// the cost of a decoder for each; ok is false for what it does not understand.
func parsePrimitive(data json.RawMessage, ty cty.Type) (v cty.Value, ok bool) {
	switch {
	case ty == cty.Bool && string(data) == "true":
		return cty.True, true
	case ty == cty.Bool && string(data) == "false":
		return cty.False, true
	case ty != cty.String || data[0] != '"':
		return cty.NilVal, false
	case !bytes.ContainsRune(data, '\\'):
		return cty.StringVal(string(data[1 : len(data)-1])), true
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		return cty.NilVal, false
	}
	return cty.StringVal(text), true
}

func parseHole(data json.RawMessage) (Hole, bool) {
	if !bytes.Contains(data, []byte(holeKey)) {
		return Hole{}, false
	}
	var obj map[string]Hole
	if json.Unmarshal(data, &obj) != nil || len(obj) != 1 {
		return Hole{}, false
	}
	hole, ok := obj[holeKey]
	return hole, ok
}

// Slim replaces large bulky values in plain data by holes with their digest,
// for claims, which need to know what was written and not its bytes.
func Slim(s Schema, data json.RawMessage) (json.RawMessage, error) {
	v, holes, err := ParsePlain(s, data)
	if err != nil {
		return nil, err
	}
	if !slimObject(s, v, "", holes) {
		return data, nil
	}
	return Plain(s, v, holes)
}

func slimObject(s Schema, v cty.Value, path string, holes map[string]Hole) (changed bool) {
	for _, a := range s.Attrs {
		val := v.GetAttr(a.Name)
		if !a.Bulk || val.IsNull() || a.Type != cty.String {
			continue
		}
		if a.BulkUnless != "" && !v.GetAttr(a.BulkUnless).IsNull() {
			continue
		}
		if text := val.AsString(); len(text) > slimAbove {
			holes[path+a.Name] = Hole{Digest: thing.Digest([]byte(text)), Size: int64(len(text))}
			changed = true
		}
	}
	for _, n := range s.Blocks {
		if n.Steps {
			continue
		}
		for i, inner := range v.GetAttr(n.Name).AsValueSlice() {
			changed = slimObject(n.Schema, inner, fmt.Sprintf("%s%s[%d].", path, n.Name, i), holes) || changed
		}
	}
	return changed
}

// HoleVars lists the sensitive variables that holes are made of, sorted.
func HoleVars(holes map[string]Hole) []string {
	seen := map[string]bool{}
	var names []string
	for _, hole := range holes {
		for _, name := range hole.Vars {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}
