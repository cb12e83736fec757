package writefileifchanged

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// merge sets the keys in the JSON object that base holds, objects deep. A nil
// base is a file that is not there. Order, indentation and the final line end
// of base stay.
func merge(base []byte, keys *object) (after []byte, changed bool, err error) {
	doc := newObject()
	if base != nil {
		if doc, err = parseObject(base); err != nil {
			return nil, false, err
		}
	}
	if !mergeInto(doc, keys) && base != nil {
		return base, false, nil
	}
	return render(doc, base), true, nil
}

func render(doc *object, like []byte) []byte {
	out := doc.text(indentation(like))
	if like == nil || bytes.HasSuffix(like, []byte("\n")) {
		out = append(out, '\n')
	}
	return out
}

func mergeInto(doc, keys *object) (changed bool) {
	for _, key := range keys.keys {
		want := keys.vals[key]
		have, ok := doc.vals[key]
		inner, isObject := want.(*object)
		below, alsoObject := have.(*object)
		switch {
		case isObject && alsoObject:
			changed = mergeInto(below, inner) || changed
		case !ok || !equal(have, want):
			doc.set(key, clone(want))
			changed = true
		}
	}
	return changed
}

func clone(v any) any {
	o, ok := v.(*object)
	if !ok {
		return v
	}
	c := newObject()
	for _, key := range o.keys {
		c.set(key, clone(o.vals[key]))
	}
	return c
}

// unmerge takes the keys out of doc again: those that orig has get its value,
// the others go, and with them the objects they leave empty.
func unmerge(doc, keys, orig *object) {
	for _, key := range keys.keys {
		now, there := doc.vals[key].(*object)
		was, had := orig.vals[key]
		wasObject, _ := was.(*object)
		inner, nested := keys.vals[key].(*object)
		switch {
		case nested && there && wasObject != nil:
			unmerge(now, inner, wasObject)
		case had:
			doc.set(key, was)
		case nested && there:
			if unmerge(now, inner, newObject()); len(now.keys) == 0 {
				doc.remove(key)
			}
		default:
			doc.remove(key)
		}
	}
}

// former is what doc holds at exactly the keys, as a JSON object by JSON
// pointer; a key that is not there is left out.
func former(keys, doc *object) string {
	found := map[string]json.RawMessage{}
	collect(keys, doc, "", found)
	out, err := json.Marshal(found)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func collect(keys, doc *object, at string, found map[string]json.RawMessage) {
	for _, key := range keys.keys {
		pointer := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		v, ok := doc.vals[key]
		if !ok {
			continue
		}
		inner, nested := keys.vals[key].(*object)
		below, also := v.(*object)
		if nested && also && len(inner.keys) > 0 {
			collect(inner, below, pointer, found)
			continue
		}
		var out bytes.Buffer
		writeValue(&out, v, "", "")
		found[pointer] = out.Bytes()
	}
}

// originally builds the object that former describes.
func originally(value string) (*object, error) {
	found, err := parseObject([]byte(value))
	if err != nil {
		return nil, fmt.Errorf("the recorded former values: %w", err)
	}
	orig := newObject()
	for _, pointer := range found.keys {
		parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		at := orig
		for i, part := range parts {
			key := strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
			if i == len(parts)-1 {
				at.set(key, found.vals[pointer])
				break
			}
			next, ok := at.vals[key].(*object)
			if !ok {
				next = newObject()
				at.set(key, next)
			}
			at = next
		}
	}
	return orig, nil
}
