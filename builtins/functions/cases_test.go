package functions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostler/interpreter/block"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// assets are the files of testdata/recipe, and two that cannot be read.
type assets struct{}

func (assets) ReadFile(name string) ([]byte, error) {
	switch name {
	case "large":
		return make([]byte, maxFile+1), nil
	case "unreadable":
		return nil, errors.New("broken disk")
	}
	return fs.ReadFile(os.DirFS("testdata/recipe"), name)
}

// Match lists some names.
func (assets) Match(dir, pattern string) ([]string, error) {
	return block.MatchFiles([]string{"files/a.conf", "files/sub/b.conf"}, dir, pattern)
}

func scope() *hcl.EvalContext {
	return &hcl.EvalContext{
		Functions: All(assets{}),
		Variables: map[string]cty.Value{
			"empty": cty.ObjectVal(map[string]cty.Value{
				"strings": cty.ListValEmpty(cty.String),
				"lists":   cty.MapValEmpty(cty.List(cty.String)),
			}),
			"u": cty.ObjectVal(map[string]cty.Value{"bool": cty.UnknownVal(cty.Bool)}),
		},
	}
}

// example is one line of testdata/*.cases.
type example struct {
	file, call, value, fault string
	from, to                 int // the argument that the fault is about
}

func examples(t *testing.T) []example {
	t.Helper()
	files, err := filepath.Glob("testdata/*.cases")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var out []example
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				out = append(out, parseExample(t, filepath.Base(file), line))
			}
		}
	}
	return out
}

func parseExample(t *testing.T, file, line string) example {
	call, value, ok := strings.Cut(line, " ==> ")
	fault := ""
	if !ok {
		if call, fault, ok = strings.Cut(line, " !!> "); !ok {
			t.Fatalf("%s: %s", file, line)
		}
		value = ""
	}
	e := example{file: file, value: strings.TrimSpace(value), fault: strings.TrimSpace(fault), from: -1}
	call = strings.TrimSpace(call)
	if from := strings.Index(call, "«"); from >= 0 {
		call = strings.Replace(call, "«", "", 1)
		e.from, e.to = from, strings.Index(call, "»")
		call = strings.Replace(call, "»", "", 1)
	}
	e.call = call
	return e
}

func evaluate(t *testing.T, src string) (cty.Value, hcl.Diagnostics) {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(src), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", src, diags)
	}
	return expr.Value(scope())
}

func TestCases(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(e.file+"/"+e.call, func(t *testing.T) {
			got, diags := evaluate(t, e.call)
			if e.fault != "" {
				wantFault(t, e, diags)
				return
			}
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			want, diags := evaluate(t, e.value)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if e.value == "null" {
				want = cty.NullVal(got.Type())
			}
			if !got.RawEquals(want) {
				t.Errorf("got %#v\nwant %#v", got, want)
			}
		})
	}
}

func wantFault(t *testing.T, e example, diags hcl.Diagnostics) {
	t.Helper()
	if !diags.HasErrors() {
		t.Fatal("no error")
	}
	d := diags[0]
	if !strings.Contains(d.Detail, e.fault) {
		t.Errorf("got %s: %s", d.Summary, d.Detail)
	}
	if e.from >= 0 && (d.Subject.Start.Byte < e.from || d.Subject.End.Byte > e.to) {
		t.Errorf("the error is at %v, not at bytes %d to %d", d.Subject, e.from, e.to)
	}
}

// Every function has a case, and one that fails where it can.
func TestEveryFunctionHasCases(t *testing.T) {
	var text strings.Builder
	for _, e := range examples(t) {
		text.WriteString(" " + e.call)
	}
	for name := range All(assets{}) {
		if !strings.Contains(text.String(), name+"(") {
			t.Errorf("%s has no case", name)
		}
	}
}

var hclPos = hcl.InitialPos
