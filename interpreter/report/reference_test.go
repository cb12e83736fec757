package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
	"hostler/interpreter/report"
)

func TestBlockPage(t *testing.T) {
	page := report.BlockPage(&block.Type{
		Name:      "thing",
		Doc:       block.Doc{Summary: "A thing.", Text: "Long text.", Checks: "Bytes.", Owns: "A path.", Resets: "Removes it."},
		Example:   "\nthing \"a\" {}\n",
		Retryable: []block.FaultClass{block.FaultNetwork, block.FaultBusy, block.FaultExit},
		Schema: block.Schema{
			Attrs: []block.Attr{
				{Name: "path", Doc: "Where | it is.", Type: cty.String, Grammar: "absolute path", Required: true, Owned: true},
				{Name: "mode", Doc: "Its mode.", Type: cty.String, Default: cty.StringVal("0644"), Grammar: "mode", OneOf: []string{"a", "b"}},
				{Name: "kind", Doc: "Its kind.", Type: cty.String, OneOf: []string{"x", "y"}},
				{Name: "on", Doc: "On.", Type: cty.Bool, Default: cty.True},
				{Name: "n", Doc: "Number.", Type: cty.Number, Default: cty.NumberIntVal(7)},
				{Name: "list", Doc: "List.", Type: cty.List(cty.String), Default: cty.ListValEmpty(cty.String)},
				{Name: "map", Doc: "Map.", Type: cty.Map(cty.Set(cty.Number)), Default: cty.NullVal(cty.Map(cty.Set(cty.Number)))},
				{Name: "secret", Doc: "Secret.", Type: cty.String, Sensitive: true, Asset: true, Deprecated: "use list"},
				{Name: "watch", Doc: "Steps.", Refs: true, Type: cty.List(cty.String)},
			},
			Blocks: []block.Nested{
				{Name: "one", Doc: "One.", Min: 1, Max: 1, Schema: block.Schema{Blocks: []block.Nested{{Name: "inner", Doc: "Inner.", Labels: []string{"name"}, Max: 1}}}},
				{Name: "some", Doc: "Some.", Min: 1}, {Name: "any", Doc: "Any."}, {Name: "few", Doc: "Few.", Min: 2, Max: 3}, {Name: "in", Doc: "Steps.", Steps: true},
			},
			Exports: []block.Attr{{Name: "root", Doc: "Its root.", Type: cty.String}},
		},
	})
	want := "# thing\n\nA thing.\n\nLong text.\n\n## Example\n\n```hcl\nthing \"a\" {}\n```\n\n## Arguments\n\n" + `| argument | type | default | meaning |
|---|---|---|---|
| ` + "`path`" + ` | absolute path | required | Where \| it is. Names an owned thing: only ` + "`var`, `local`, `host`, `ownership()` and `each`" + ` may be used. |
| ` + "`mode`" + ` | mode | ` + "`\"0644\"`" + ` | Its mode. One of ` + "`\"a\"`, `\"b\"`" + `. |
| ` + "`kind`" + ` | one of ` + "`\"x\"`, `\"y\"`" + ` |  | Its kind. |
| ` + "`on`" + ` | bool | ` + "`true`" + ` | On. |
| ` + "`n`" + ` | number | ` + "`7`" + ` | Number. |
| ` + "`list`" + ` | list of string | ` + "`[]`" + ` | List. |
| ` + "`map`" + ` | map of list of number |  | Map. |
| ` + "`secret`" + ` | string |  | Secret. May be sensitive. A file of the recipe. Deprecated: use list |
| ` + "`watch`" + ` | list of references to earlier steps |  | Steps. |

### ` + "`one`" + `

One. (exactly once)

### ` + "`one.inner` `\"NAME\"`" + `

Inner. (at most once)

### ` + "`some`" + `

Some. (at least 1)

### ` + "`any`" + `

Any. (any number)

### ` + "`few`" + `

Few. (2 to 3)

### ` + "`in`" + `

Steps. (holds steps)

Every step also takes ` + "`when`, `for_each`, `timeout`, `on_drift`, `description` and `failure_reason`; see [the language](../../language.md#steps)." + `

## Exported attributes

| attribute | type | meaning |
|---|---|---|
| ` + "`root`" + ` | string | Its root. |

## What it checks

Bytes.

## What it owns

A path.

## What reset does

Removes it.

## Retry

A ` + "`retry`" + ` block covers network faults (no connection, DNS, time-out, status 429 and 5xx), a lock that another program holds, a command that fails.

## Where it may stand

On the host and inside machines.
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(page, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	bare := report.BlockPage(&block.Type{Name: "b", HostOnly: true})
	for _, want := range []string{"On the host only.", "a `retry` block is refused"} {
		if !strings.Contains(bare, want) {
			t.Errorf("there is no %q in %q", want, bare)
		}
	}
}

func TestFunctionText(t *testing.T) {
	f := function.New(&function.Spec{
		Description: "Joins.",
		Params:      []function.Parameter{{Name: "sep", Type: cty.String, Description: "between"}, {Name: "first", Type: cty.DynamicPseudoType}},
		VarParam:    &function.Parameter{Name: "rest", Type: cty.List(cty.String)},
		Type:        function.StaticReturnType(cty.String),
	})
	want := "join(sep, first, rest...)\n\nJoins.\n\n* `sep` (string): between\n* `first` (any type)\n* `rest` (list of string)\n"
	if got := report.FunctionText("join", f); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	page := report.FunctionsPage(map[string]function.Function{"b": f, "a": f})
	if a, b := strings.Index(page, "\n## a\n\n`a(sep, first, rest...)`"), strings.Index(page, "\n## b\n"); a < 0 || b < a {
		t.Errorf("functions are not in order: %s", page)
	}
}

// TestEventsPage: every document is there, down to its nested members.
func TestEventsPage(t *testing.T) {
	type base struct {
		In string `json:"in"`
	}
	page := report.EventsPage(report.Page{Title: "more", Value: struct {
		base
		Skipped string
		Hidden  string  `json:"-"`
		N       float64 `json:"n,omitempty" doc:"how many"`
	}{}})
	for _, want := range []string{
		"## validate\n\n* `format_version` (string)\n* `valid` (boolean)\n",
		"    * `start` (object)\n      * `line` (number): from 1\n",
		"## plan, verify, reset --plan\n", "* `actions` (array of object): one a step, in the order of the run\n  * `address` (string)\n",
		"## status\n", "* `time` (RFC 3339 time)\n", "## preflight\n", "* `identity` (object)",
		"## more\n\n* `in` (string)\n* `n` (number, may be absent): how many\n",
		"## Events of apply, ensure, adopt, reset\n", "  * `value` (any JSON value, may be absent)\n", "* `deferred` (array of string, may be absent)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "Skipped") || strings.Contains(page, "Hidden") {
		t.Error("the page shows members that are not in the JSON")
	}
}
