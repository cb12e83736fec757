package eval

import (
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/block"
)

// element is one instance to make; key is nil without for_each.
type element struct {
	key  *string
	each cty.Value
}

// elements are the instances that for_each asks for. known is false where only
// a running host can tell; ok is false after a fault.
func (b bench) elements(st *step) (list []element, known, ok bool) {
	if st.forEach == nil {
		return []element{{each: b.each}}, true, true
	}
	v, ok := b.eval(st.forEach)
	if !ok {
		return nil, false, false
	}
	raw, marks := v.Unmark()
	if _, prefixed := marks[ofHost{}]; prefixed {
		defer func() {
			for i := range list {
				list[i].each = list[i].each.Mark(ofHost{})
			}
		}()
	}
	f, at := b.frame.run, st.forEach.Range()
	switch {
	case isSensitive(marks):
		f.errorf(at, "Sensitive collection", "for_each decides what is owned, and its keys are shown, so it cannot be sensitive. Use a collection of names that are no secret.")
		return nil, false, false
	case !raw.IsKnown():
		return nil, false, true
	case raw.IsNull():
		f.errorf(at, "Null collection", "for_each is null. Write [] for no instances.")
		return nil, false, false
	case raw.Type().IsMapType() || raw.Type().IsObjectType():
		return mapElements(raw), true, true
	case raw.Type().IsListType() || raw.Type().IsTupleType() || raw.Type().IsSetType():
		return b.listElements(st, raw)
	}
	f.errorf(at, "Invalid for_each", "for_each takes a list of unique strings, a set of strings or a map; this is a %s.", raw.Type().FriendlyName())
	return nil, false, false
}

// mapElements are in the order of their keys.
func mapElements(v cty.Value) []element {
	var list []element
	for it := v.ElementIterator(); it.Next(); {
		k, val := it.Element()
		key := k.AsString()
		list = append(list, element{&key, eachValue(k, val)})
	}
	return list
}

// listElements are in the order written.
func (b bench) listElements(st *step, v cty.Value) (list []element, known, ok bool) {
	f, at := b.frame.run, st.forEach.Range()
	seen := map[string]bool{}
	for it := v.ElementIterator(); it.Next(); {
		_, val := it.Element()
		raw, s := reveal(val)
		switch {
		case s.sensitive:
			f.errorf(at, "Sensitive collection", "An element of for_each is sensitive, and keys are shown. Use names that are no secret.")
			return nil, false, false
		case !raw.IsKnown():
			return nil, false, true
		case raw.IsNull() || raw.Type() != cty.String:
			f.errorf(at, "Invalid for_each", "The elements of a list in for_each are strings; one is not. Write a map to give each key a value.")
			return nil, false, false
		case seen[raw.AsString()]:
			f.errorf(at, "Duplicate key", "The list in for_each has %q twice. Remove one.", raw.AsString())
			return nil, false, false
		}
		key := raw.AsString()
		seen[key] = true
		if s.prefix {
			raw = raw.Mark(ofHost{})
		}
		list = append(list, element{&key, eachValue(raw, raw)})
	}
	return list, true, true
}

func isSensitive(marks cty.ValueMarks) bool {
	_, ok := marks[block.Sensitive]
	return ok
}

func eachValue(key, value cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
}

// unknownEach stands for each where the instances cannot be known.
func unknownEach() cty.Value { return eachValue(unknownText(), cty.DynamicVal) }
