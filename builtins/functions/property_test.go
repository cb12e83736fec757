package functions

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"pgregory.net/rapid"

	"hostler/interpreter/block"
)

func TestEveryFunctionIsDescribed(t *testing.T) {
	for name, f := range All(assets{}) {
		described(t, name, f.Description())
		for _, p := range f.Params() {
			described(t, name+", parameter "+p.Name, p.Description)
		}
		if p := f.VarParam(); p != nil {
			described(t, name+", parameter "+p.Name, p.Description)
		}
	}
}

func described(t *testing.T, what, doc string) {
	t.Helper()
	if len(doc) < 8 || !strings.HasSuffix(doc, ".") || strings.ToUpper(doc[:1]) != doc[:1] && doc[0] != '"' {
		t.Errorf("%s: description %q is no sentence", what, doc)
	}
}

// The contract names these; a rename breaks recipes.
func TestNames(t *testing.T) {
	all := All(assets{})
	for _, name := range strings.Fields(`
		abs ceil floor log max min parseint pow signum
		chomp endswith format formatlist indent join lower regex regexall replace split startswith strcontains strrev
		substr title trim trimprefix trimsuffix trimspace upper
		alltrue anytrue chunklist coalesce coalescelist compact concat contains deepmerge distinct element flatten index keys
		length lookup matchkeys merge one range reverse setintersection setproduct setsubtract setsymmetricdifference setunion slice sort sum
		transpose values zipmap
		base64decode base64encode csvdecode jsondecode jsonencode urlencode yamldecode yamlencode tomldecode tomlencode base64gzip textencodebase64 textdecodebase64
		md5 sha1 sha256 sha512 base64sha256 base64sha512
		file filebase64 fileexists fileset filemd5 filesha1 filesha256 filesha512 filebase64sha256 filebase64sha512 templatefile templatestring
		basename dirname
		can try type tonumber tostring tobool tolist tomap toset sensitive nonsensitive issensitive
		cidrhost cidrnetmask cidrsubnet cidrsubnets
		formatdate timeadd timecmp unit_escape semver_minor`) {
		if _, ok := all[name]; !ok {
			t.Errorf("%s is missing", name)
		}
		delete(all, name)
	}
	for name := range all {
		t.Errorf("%s is not in this list", name)
	}
}

// call is a function with good arguments, from the cases.
type call struct {
	name string
	f    function.Function
	args []cty.Value
}

// calls are the calls of the cases whose outermost expression is one of a
// function, its arguments converted as in a recipe.
func calls(t *testing.T) []call {
	var out []call
	for _, e := range examples(t) {
		expr, diags := hclsyntax.ParseExpression([]byte(e.call), "x", hclPos)
		fn, ok := expr.(*hclsyntax.FunctionCallExpr)
		if diags.HasErrors() || !ok || e.fault != "" || fn.Name == "try" || fn.Name == "can" {
			continue
		}
		c := call{name: fn.Name, f: All(assets{})[fn.Name]}
		for i, arg := range fn.Args {
			v, diags := arg.Value(scope())
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			v, err := convert.Convert(v, parameter(c.f, i).Type)
			if err != nil {
				t.Fatalf("%s: %v", e.call, err)
			}
			c.args = append(c.args, v)
		}
		out = append(out, c)
	}
	if len(out) < 100 {
		t.Fatalf("only %d calls", len(out))
	}
	return out
}

func parameter(f function.Function, i int) function.Parameter {
	if params := f.Params(); i < len(params) {
		return params[i]
	}
	return *f.VarParam()
}

func (c call) with(i int, v cty.Value) []cty.Value {
	args := append([]cty.Value{}, c.args...)
	args[i] = v
	return args
}

// Whatever argument is not known yet: the result is a value of the type that
// it will have, and no call fails.
func TestUnknownArguments(t *testing.T) {
	for _, c := range calls(t) {
		known, err := c.f.Call(c.args)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for i, arg := range c.args {
			dynamic, err := convert.Convert(cty.DynamicVal, parameter(c.f, i).Type)
			if err != nil {
				t.Fatal(err)
			}
			for _, unknown := range []cty.Value{cty.UnknownVal(arg.Type()), dynamic} {
				got, err := c.f.Call(c.with(i, unknown))
				if err != nil {
					t.Errorf("%s, argument %d unknown: %v", c.name, i, err)
					continue
				}
				if errs := known.Type().TestConformance(got.Type()); errs != nil && c.name != "coalesce" && c.name != "lookup" {
					t.Errorf("%s, argument %d unknown: type %#v, known %#v", c.name, i, got.Type(), known.Type())
				}
			}
		}
	}
}

// Whatever argument is sensitive, the result is too.
func TestSensitiveArguments(t *testing.T) {
	for _, c := range calls(t) {
		if c.name == "nonsensitive" || c.name == "issensitive" || c.name == "type" {
			continue
		}
		plain, _ := c.f.Call(c.args)
		for i, arg := range c.args {
			got, err := c.f.Call(c.with(i, block.MarkSensitive(arg)))
			if err != nil {
				t.Errorf("%s, argument %d sensitive: %v", c.name, i, err)
				continue
			}
			if !block.IsSensitive(got) && !ignores(c, i) {
				t.Errorf("%s%#v: argument %d is sensitive, the result is not", c.name, c.args, i)
			}
			a, _ := got.UnmarkDeep()
			b, _ := plain.UnmarkDeep()
			if !a.RawEquals(b) {
				t.Errorf("%s: %#v, with a sensitive argument %#v", c.name, b, a)
			}
			if got, err := c.f.Call(c.with(i, block.MarkSensitive(cty.UnknownVal(arg.Type())))); err == nil && !block.IsSensitive(got) && !ignores(c, i) {
				t.Errorf("%s: argument %d is sensitive and unknown, the result is not sensitive", c.name, i)
			}
		}
	}
}

// ignores says that the value of an argument is not in the result: the default
// of a look-up that finds, elements of an object whose length is asked.
func ignores(c call, i int) bool { return c.name == "lookup" && i == 2 }

// A secret in a list does not make its length a secret, nor that of its keys.
func TestSensitiveElements(t *testing.T) {
	all := All(assets{})
	list := cty.ListVal([]cty.Value{block.MarkSensitive(cty.StringVal("x")), cty.StringVal("y")})
	object := cty.ObjectVal(map[string]cty.Value{"a": block.MarkSensitive(cty.StringVal("x")), "b": cty.StringVal("y")})
	for _, c := range []struct {
		name string
		args []cty.Value
		want bool
	}{
		{"length", []cty.Value{list}, false},
		{"length", []cty.Value{object}, false},
		{"keys", []cty.Value{object}, false},
		{"lookup", []cty.Value{object, cty.StringVal("a")}, true},
		{"lookup", []cty.Value{object, cty.StringVal("b")}, false},
		{"join", []cty.Value{cty.StringVal(","), list}, true},
		{"jsonencode", []cty.Value{object}, true},
		{"yamlencode", []cty.Value{object}, true},
		{"tomlencode", []cty.Value{object}, true},
	} {
		got, err := all[c.name].Call(c.args)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if block.IsSensitive(got) != c.want {
			t.Errorf("%s%#v: sensitive is %v", c.name, c.args, !c.want)
		}
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	const secret = "hunter2"
	all := All(assets{})
	for name, f := range all {
		if len(f.Params()) == 0 || f.Params()[0].Type == customdecode.ExpressionClosureType {
			continue
		}
		args := make([]cty.Value, len(f.Params()))
		for i := range args {
			args[i] = block.MarkSensitive(cty.StringVal(secret))
			if f.Params()[i].Type == cty.Number {
				args[i] = cty.NumberIntVal(10)
			}
		}
		if _, err := f.Call(args); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	vars := cty.ObjectVal(map[string]cty.Value{"name": block.MarkSensitive(cty.StringVal(secret))})
	_, err := all["templatefile"].Call([]cty.Value{cty.StringVal("files/parse.tftpl"), vars})
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("templatefile: %v", err)
	}
	_, err = all["parseint"].Call([]cty.Value{cty.StringVal(secret), cty.NumberIntVal(10)})
	if err == nil || !strings.Contains(err.Error(), secret) {
		t.Errorf("an error about what is no secret: %v", err)
	}
}

// Unknown and sensitive parts of the variables of a template taint no more
// than what is made of them.
func TestTemplateVariables(t *testing.T) {
	f := All(assets{})["templatefile"]
	call := func(name string, vars map[string]cty.Value) cty.Value {
		t.Helper()
		out, err := f.Call([]cty.Value{cty.StringVal("files/" + name), cty.ObjectVal(vars)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	secret := block.MarkSensitive(cty.StringVal("s"))
	if out := call("nontext.tftpl", map[string]cty.Value{"list": cty.StringVal("x"), "other": secret}); !out.RawEquals(cty.StringVal("x")) {
		t.Errorf("a secret that is not used: %#v", out)
	}
	if out := call("nontext.tftpl", map[string]cty.Value{"list": secret}); !out.RawEquals(secret) {
		t.Errorf("a secret that is used: %#v", out)
	}
	if out := call("nontext.tftpl", map[string]cty.Value{"list": cty.UnknownVal(cty.String)}); out.IsKnown() || out.Type() != cty.String {
		t.Errorf("an unknown: %#v", out)
	}
}

// No arguments at all make a function panic or give a result that is not of
// the type announced.
func TestNoFunctionPanics(t *testing.T) {
	all := All(assets{})
	names := make([]string, 0, len(all))
	for name, f := range all {
		if p := f.VarParam(); p == nil || p.Type != customdecode.ExpressionClosureType {
			if ps := f.Params(); len(ps) == 0 || ps[0].Type != customdecode.ExpressionClosureType {
				names = append(names, name)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		f := all[name]
		n := len(f.Params())
		if f.VarParam() != nil {
			n += rapid.IntRange(0, 3).Draw(t, "more")
		}
		var args []cty.Value
		for i := range n {
			v := anything(2).Draw(t, "arg")
			if c, err := convert.Convert(v, parameter(f, i).Type); err == nil {
				v = c
			}
			args = append(args, v)
		}
		ty, typeErr := f.ReturnTypeForValues(args)
		out, err := f.Call(args)
		if err != nil {
			if strings.Contains(err.Error(), "cannot be computed") && name != "merge" && name != "zipmap" { // a panic, which the library has for nulls
				t.Fatalf("%s%#v: %v", name, args, err)
			}
			return
		}
		if typeErr != nil {
			t.Fatalf("%s%#v: a result, but no type: %v", name, args, typeErr)
		}
		if errs := out.Type().TestConformance(ty); errs != nil {
			t.Fatalf("%s%#v: %v", name, args, errs)
		}
	})
}

// What is encoded decodes to the same, and again to the same text.
func TestEncodersRoundTrip(t *testing.T) {
	all := All(assets{})
	rapid.Check(t, func(t *rapid.T) {
		v := data(3).Draw(t, "value")
		for _, kind := range []string{"json", "yaml"} {
			out, err := all[kind+"encode"].Call([]cty.Value{v})
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			back, err := all[kind+"decode"].Call([]cty.Value{out})
			if err != nil {
				t.Fatalf("%s: %q: %v", kind, out.AsString(), err)
			}
			again, err := all[kind+"encode"].Call([]cty.Value{back})
			if err != nil || !again.RawEquals(out) || !back.RawEquals(v) {
				t.Fatalf("%s: %#v, %#v, %v", kind, out, back, err)
			}
		}
	})
}

// A panic in a function of the library is an error for known arguments, and an
// unknown result for others.
func TestPanicsAreNoPanics(t *testing.T) {
	f := discreet(function.New(&function.Spec{
		Params: []function.Parameter{anyValue("v", "")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if args[0].RawEquals(cty.Zero) {
				panic("type")
			}
			return cty.String, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { panic("impl") },
	}))
	for _, v := range []cty.Value{cty.Zero, cty.True} {
		if _, err := f.Call([]cty.Value{v}); err == nil || strings.Contains(err.Error(), "goroutine") {
			t.Errorf("%#v: %v", v, err)
		}
	}
	secret := block.MarkSensitive(cty.UnknownVal(cty.Number))
	got, err := f.Call([]cty.Value{secret})
	if err != nil || !got.RawEquals(block.MarkSensitive(cty.UnknownVal(cty.String))) {
		t.Errorf("got %#v, %v", got, err)
	}
}
