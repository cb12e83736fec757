package eval

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"hostler/interpreter/syntax"
)

// fit brings a value to the type of the variable. Missing optional attributes
// get their defaults; attributes that the type does not have are an error.
// Marks are kept. The error text never holds the value.
func (v *variable) fit(val cty.Value) (cty.Value, error) {
	if err := extraAttributes(val, v.Type, "", 0); err != nil {
		return cty.NilVal, err
	}
	if v.defaults != nil && !val.IsNull() {
		val = v.defaults.Apply(val)
	}
	return converted(val, v.Type)
}

// converted is a value of another type, none that is larger than any may be. The
// error text never holds it.
func converted(val cty.Value, ty cty.Type) (cty.Value, error) {
	if err := syntax.Bounded(val); err != nil {
		return cty.NilVal, err
	}
	out, err := convert.Convert(val, ty)
	if err != nil {
		return cty.NilVal, convertError(err)
	}
	// Texts are numbers now.
	if err := syntax.Bounded(out); err != nil {
		return cty.NilVal, err
	}
	return out, nil
}

// convertError is a conversion error with the path it is about.
func convertError(err error) error {
	if pe, ok := err.(cty.PathError); ok && len(pe.Path) > 0 {
		return fmt.Errorf("at %s: %w", pathText(pe.Path), err)
	}
	return err
}

func pathText(p cty.Path) string {
	var text string
	for _, step := range p {
		switch s := step.(type) {
		case cty.GetAttrStep:
			text += "." + s.Name
		case cty.IndexStep:
			text += indexText(s.Key)
		}
	}
	if len(text) > 0 && text[0] == '.' {
		return text[1:]
	}
	return text
}

func indexText(key cty.Value) string {
	key, _ = key.Unmark()
	switch {
	case !key.IsKnown() || key.IsNull():
		return "[…]"
	case key.Type() == cty.String:
		return fmt.Sprintf("[%q]", key.AsString())
	case key.Type() == cty.Number:
		return "[" + key.AsBigFloat().Text('f', 0) + "]"
	}
	return "[…]"
}

// maxValueDepth bounds how deep values are looked into; the text's nesting is
// bounded before.
const maxValueDepth = 1000

// extraAttributes reports an attribute of an object that its type does not
// have: the conversion would drop it silently.
func extraAttributes(val cty.Value, ty cty.Type, path string, depth int) error {
	val, _ = val.Unmark()
	if !val.IsKnown() || val.IsNull() || depth > maxValueDepth {
		return nil
	}
	switch {
	case ty.IsObjectType() && (val.Type().IsObjectType() || val.Type().IsMapType()):
		return extraInObject(val, ty, path, depth)
	case ty.IsCollectionType() && val.CanIterateElements():
		for it := val.ElementIterator(); it.Next(); {
			k, v := it.Element()
			at := path + indexText(k)
			if val.Type().IsSetType() {
				at = path + "[…]"
			}
			if err := extraAttributes(v, ty.ElementType(), at, depth+1); err != nil {
				return err
			}
		}
	case ty.IsTupleType() && val.CanIterateElements() && (val.Type().IsTupleType() || val.Type().IsListType()):
		types := ty.TupleElementTypes()
		for i, v := range val.AsValueSlice() {
			if i >= len(types) {
				return nil
			}
			if err := extraAttributes(v, types[i], fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// remedy says what to do about a name that does not exist.
func remedy(name string, names []string) string {
	if hint := didYouMean(name, names); hint != "" {
		return hint
	}
	return " Remove it."
}

func extraInObject(val cty.Value, ty cty.Type, path string, depth int) error {
	names := make([]string, 0, len(ty.AttributeTypes()))
	for name := range ty.AttributeTypes() {
		names = append(names, name)
	}
	slices.Sort(names)
	for it := val.ElementIterator(); it.Next(); {
		k, v := it.Element()
		k, _ = k.Unmark()
		if !k.IsKnown() || k.IsNull() {
			continue
		}
		name := k.AsString()
		at := path + "." + name
		if path == "" {
			at = name
		}
		if !ty.HasAttribute(name) {
			inside := ""
			if path != "" {
				inside = " at " + path
			}
			return fmt.Errorf("there is no attribute %q%s; there are %s.%s", name, inside, oneOf(names), remedy(name, names))
		}
		if err := extraAttributes(v, ty.AttributeType(name), at, depth+1); err != nil {
			return err
		}
	}
	return nil
}
