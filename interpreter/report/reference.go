package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/block"
)

// BlockPage is the reference page of a block type, in Markdown.
func BlockPage(t *block.Type) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n", t.Name, t.Doc.Summary)
	section(&out, "", t.Doc.Text)
	section(&out, "Example", "```hcl\n"+strings.TrimSpace(t.Example)+"\n```")
	section(&out, "Arguments", cmp.Or(arguments(t.Schema, ""), "It has none of its own.\n")+"\nEvery step also takes `when`, `for_each`, `timeout`, `on_drift`, `description` and `failure_reason`; see [the language](../../language.md#steps).")
	if len(t.Schema.Exports) > 0 {
		section(&out, "Exported attributes", exports(t.Schema.Exports))
	}
	section(&out, "What it checks", t.Doc.Checks)
	section(&out, "What it owns", t.Doc.Owns)
	section(&out, "What reset does", t.Doc.Resets)
	section(&out, "Retry", retryable(t))
	section(&out, "Where it may stand", standing(t))
	return out.String()
}

// BlockText documents a block of the language that is no step.
func BlockText(n block.Nested) string {
	return fmt.Sprintf("# %s%s\n\n%s (%s)\n%s", n.Name, labels(n.Labels), n.Doc, often(n), arguments(n.Schema, n.Name+"."))
}

// ArgumentText documents an argument that every step accepts.
func ArgumentText(a block.Attr) string {
	return fmt.Sprintf("# %s\n\nAn argument of every step (%s). %s\n", a.Name, typeOf(a), meaning(a))
}

func section(out *strings.Builder, title, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if title != "" {
		fmt.Fprintf(out, "\n## %s\n", title)
	}
	fmt.Fprintf(out, "\n%s\n", text)
}

// arguments is a table of a schema's attributes, then its nested blocks.
func arguments(s block.Schema, path string) string {
	var out strings.Builder
	if len(s.Attrs) > 0 {
		out.WriteString("\n| argument | type | default | meaning |\n|---|---|---|---|\n")
	}
	for _, a := range s.Attrs {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", a.Name, cell(typeOf(a)), cell(defaultOf(a)), cell(meaning(a)))
	}
	for _, n := range s.Blocks {
		title := path + n.Name
		fmt.Fprintf(&out, "\n### `%s`%s\n\n%s (%s)\n", title, labels(n.Labels), n.Doc, often(n))
		out.WriteString(arguments(n.Schema, title+"."))
	}
	return out.String()
}

func labels(names []string) string {
	var s string
	for _, name := range names {
		s += " `\"" + strings.ToUpper(name) + "\"`"
	}
	return s
}

func often(n block.Nested) string {
	switch {
	case n.Steps:
		return "holds steps"
	case n.Min == 1 && n.Max == 1:
		return "exactly once"
	case n.Min == 0 && n.Max == 1:
		return "at most once"
	case n.Min > 0 && n.Max == 0:
		return fmt.Sprintf("at least %d", n.Min)
	case n.Max == 0:
		return "any number"
	}
	return fmt.Sprintf("%d to %d", n.Min, n.Max)
}

func typeOf(a block.Attr) string {
	switch {
	case a.Refs:
		return "list of references to earlier steps"
	case a.Grammar != "":
		return a.Grammar
	case len(a.OneOf) > 0:
		return "one of `\"" + strings.Join(a.OneOf, "\"`, `\"") + "\"`"
	}
	return typeName(a.Type)
}

func typeName(ty cty.Type) string {
	switch {
	case ty.IsListType(), ty.IsSetType():
		return "list of " + typeName(ty.ElementType())
	case ty.IsMapType():
		return "map of " + typeName(ty.ElementType())
	}
	return ty.FriendlyNameForConstraint()
}

func defaultOf(a block.Attr) string {
	switch {
	case a.Required:
		return "required"
	case a.Default == cty.NilVal || a.Default.IsNull():
		return ""
	}
	text, err := ctyjson.Marshal(a.Default, a.Default.Type())
	if err != nil {
		return ""
	}
	return "`" + string(text) + "`"
}

func meaning(a block.Attr) string {
	s := a.Doc
	if len(a.OneOf) > 0 && a.Grammar != "" {
		s += " One of `\"" + strings.Join(a.OneOf, "\"`, `\"") + "\"`."
	}
	if a.Owned {
		s += " Names an owned thing: only `var`, `local`, `host`, `ownership()` and `each` may be used."
	}
	if a.Sensitive {
		s += " May be sensitive."
	}
	if a.Asset {
		s += " A file of the recipe."
	}
	if a.Deprecated != "" {
		s += " Deprecated: " + a.Deprecated
	}
	return s
}

// cell is text as it may stand in a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
}

func exports(attrs []block.Attr) string {
	var out strings.Builder
	out.WriteString("| attribute | type | meaning |\n|---|---|---|\n")
	for _, a := range attrs {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", a.Name, cell(typeName(a.Type)), cell(a.Doc))
	}
	return out.String()
}

func retryable(t *block.Type) string {
	if len(t.Retryable) == 0 {
		return "Its faults do not pass by themselves: a `retry` block is refused."
	}
	names := map[block.FaultClass]string{
		block.FaultNetwork: "network faults (no connection, DNS, time-out, status 429 and 5xx)",
		block.FaultBusy:    "a lock that another program holds",
		block.FaultExit:    "a command that fails",
	}
	var s []string
	for _, class := range t.Retryable {
		s = append(s, names[class])
	}
	return "A `retry` block covers " + strings.Join(s, ", ") + "."
}

func standing(t *block.Type) string {
	if t.HostOnly {
		return "On the host only."
	}
	return "On the host and inside machines."
}

// FunctionText documents one function.
func FunctionText(name string, f function.Function) string {
	return fmt.Sprintf("%s\n\n%s\n%s", signature(name, f), f.Description(), parameters(f))
}

func signature(name string, f function.Function) string {
	var params []string
	for _, p := range f.Params() {
		params = append(params, p.Name)
	}
	if p := f.VarParam(); p != nil {
		params = append(params, p.Name+"...")
	}
	return name + "(" + strings.Join(params, ", ") + ")"
}

func parameters(f function.Function) string {
	var out strings.Builder
	all := f.Params()
	if p := f.VarParam(); p != nil {
		all = append(slices.Clone(all), *p)
	}
	for _, p := range all {
		fmt.Fprintf(&out, "\n* `%s` (%s)", p.Name, typeName(p.Type))
		if p.Description != "" {
			out.WriteString(": " + p.Description)
		}
	}
	return strings.TrimSuffix(out.String(), "\n") + "\n"
}

// FunctionsPage is the reference page of all functions, in Markdown.
func FunctionsPage(all map[string]function.Function) string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	out.WriteString("# Functions\n\nThere is no clock, no randomness, no network and no command execution in expressions: the same inputs give the same recipe.\n")
	for _, name := range names {
		f := all[name]
		fmt.Fprintf(&out, "\n## %s\n\n`%s`\n\n%s\n%s", name, signature(name, f), f.Description(), parameters(f))
	}
	return out.String()
}
