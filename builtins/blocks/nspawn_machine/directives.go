package nspawnmachine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"hostler/interpreter/block"
)

// directives is an attribute that holds the directives of one section: an
// object of strings and lists of strings.
func directives(name, section string) block.Attr {
	return block.Attr{
		Name: name, Type: cty.Map(cty.List(cty.String)), Grammar: "object of strings and lists of strings",
		Convert: func(v cty.Value) (cty.Value, error) { return directiveLists(section, v) },
		Check:   checkDirectives,
	}
}

// directiveLists makes every value a list. A null leaves its directive out.
func directiveLists(section string, v cty.Value) (cty.Value, error) {
	if !v.CanIterateElements() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return v, fmt.Errorf("Write the directives of [%s] as an object, for example { Key = \"value\" }.", section)
	}
	lists := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if value.IsNull() {
			continue
		}
		list, err := asList(value)
		if err != nil {
			return v, fmt.Errorf("%s: write a string, or a list of strings to repeat the directive.", key.AsString())
		}
		lists[key.AsString()] = list
	}
	if len(lists) == 0 {
		return cty.MapValEmpty(cty.List(cty.String)), nil
	}
	return cty.MapVal(lists), nil
}

func asList(v cty.Value) (cty.Value, error) {
	switch ty := v.Type(); {
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		return convert.Convert(v, cty.List(cty.String))
	case ty.IsPrimitiveType():
		s, err := convert.Convert(v, cty.String)
		return cty.ListVal([]cty.Value{s}), err
	}
	return v, errors.New("neither")
}

// checkDirectives refuses what would not stay one line of its section.
func checkDirectives(v cty.Value) error {
	for it := v.ElementIterator(); it.Next(); {
		key, list := it.Element()
		name := key.AsString()
		if strings.Trim(name, letters+digits+"-") != "" || strings.Trim(name[:1], letters) != "" {
			return fmt.Errorf("%q is no name of a directive.", name)
		}
		if !list.IsKnown() || list.IsNull() {
			continue
		}
		for _, value := range list.AsValueSlice() {
			if value.IsNull() {
				return fmt.Errorf("%s: leave out the null in the list.", name)
			}
			if value.IsKnown() {
				if err := checkLine(value.AsString()); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

func checkLine(value string) error {
	switch {
	case strings.ContainsAny(value, "\n\r\x00"):
		return errors.New("the value holds a line end or NUL, which would begin a directive of its own; write a list to repeat the directive.")
	case strings.HasSuffix(value, "\\"):
		return errors.New("the value ends in a backslash, which would join it with the next line.")
	}
	return nil
}

// section is one section of a file, its lines in order.
type section struct {
	name  string
	lines []string
}

// newSection sorts the directives by name.
func newSection(name string, values map[string][]string) section {
	s := section{name: name}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[key] {
			s.lines = append(s.lines, key+"="+value)
		}
	}
	return s
}

// render writes the sections that have lines.
func render(sections ...section) []byte {
	var b strings.Builder
	b.WriteString("# Written by hostler; changes are overwritten.\n")
	for _, s := range sections {
		if len(s.lines) > 0 {
			b.WriteString("\n[" + s.name + "]\n" + strings.Join(s.lines, "\n") + "\n")
		}
	}
	return []byte(b.String())
}
