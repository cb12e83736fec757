package eval

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestConstraints(t *testing.T) {
	for _, c := range []struct {
		constraint, version string
		want                bool
	}{
		{"3", "3.0.0", true}, {"= 3", "3.1", false}, {"!= 3", "3.0", false}, {"!= 3", "3.1", true},
		{">= 3.0, < 4.0", "3.9.9", true}, {">= 3.0, < 4.0", "4", false}, {"> 3", "3.0", false}, {"> 3", "3.0.1", true}, {"<= 3", "3", true},
		{"~> 24.04", "24.04", true}, {"~> 24.04", "24.10", true}, {"~> 24.04", "25.04", false}, {"~> 24.04", "24.03", false}, {"~> 24.04", "24.4", true},
		{"~> 1.2.3", "1.2.9", true}, {"~> 1.2.3", "1.3.0", false}, {"~> 1.2", "2.0.0-rc1", false}, {"~> 1.2", "1.9.0-rc1", true},
		{">= 1.0.0", "1.0.0-rc1", false}, {">= 1.0.0-alpha", "1.0.0-beta", true}, {"> 1.0.0-2", "1.0.0-10", true}, {"> 1.0.0-10", "1.0.0-a", true},
		{"> 1.0.0-a", "1.0.0-10", false}, {"> 1.0.0-a", "1.0.0-a.1", true}, {"< 1.0.0-10", "1.0.0-2", true}, {"= 1.0.0+build", "1.0.0", true},
	} {
		parsed, err := parseConstraint(c.constraint)
		if err != nil {
			t.Fatalf("%s: %v", c.constraint, err)
		}
		v, err := parseVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := parsed.allows(v); got != c.want {
			t.Errorf("%q allows %q: %v", c.constraint, c.version, got)
		}
	}
	for _, bad := range []string{"", ">=", "1.x", "~> 3", ">= 1,", "=> 1", "1..2", "-1", "99999999999"} {
		if _, err := parseConstraint(bad); err == nil {
			t.Errorf("%q is taken for a constraint", bad)
		}
	}
}

// The vectors are those of RFC 8785: numbers of appendix B, and the order of
// keys of section 3.2.3.
func TestCanonicalJSON(t *testing.T) {
	number := func(s string) cty.Value { return cty.MustParseNumberVal(s) }
	for want, v := range map[string]cty.Value{
		`333333333.3333333`: number("333333333.33333329"), `4.5`: number("4.50"), `0.002`: number("2e-3"),
		`1e-27`: number("0.000000000000000000000000001"), `0`: number("-0"), `-1`: number("-1"), `0.000001`: number("1e-6"), `1e-7`: number("1e-7"),
		`9007199254740992`:     number("9007199254740992"),
		`[null,true,{}]`:       cty.TupleVal([]cty.Value{cty.NullVal(cty.String), cty.True, cty.ObjectVal(map[string]cty.Value{"gone": cty.NullVal(cty.String)})}),
		`{"1":1,"a":{"b":[]}}`: cty.ObjectVal(map[string]cty.Value{"a": cty.ObjectVal(map[string]cty.Value{"b": cty.EmptyTupleVal}), "1": number("1")}),
		`["a","b"]`:            cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a")}),
		`"\u0000\b\t\n\f\r\u001f\"\\é€😀/<"`: cty.StringVal("\x00\b\t\n\f\r\x1f\"\\é€😀/<"),
	} {
		got, err := canonical(v)
		if err != nil || string(got) != want {
			t.Errorf("%#v: %s, %v; want %s", v, got, err, want)
		}
	}
	if got := ecmaNumber(1e30); got != "1e+30" {
		t.Errorf("1e30 is %s", got)
	}
	keys := map[string]cty.Value{}
	order := []string{"\r", "1", "\u0080", "ö", "€", "😀"}
	for _, k := range order {
		keys[k] = cty.True
	}
	text, err := canonical(cty.ObjectVal(keys))
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, k := range order {
		var quoted bytes.Buffer
		writeText(&quoted, k)
		at := bytes.Index(text, quoted.Bytes())
		if at <= last {
			t.Errorf("key %q is out of order in %s", k, text)
		}
		last = at
	}
	for _, v := range []cty.Value{number("9007199254740993"), number("1e400"), cty.ListVal([]cty.Value{number("1e300")}), cty.CapsuleVal(cty.Capsule("c", reflect.TypeFor[int]()), new(int))} {
		if got, err := canonical(v); err == nil {
			t.Errorf("%#v gave %s", v, got)
		}
	}
}

func TestArtifactIdentity(t *testing.T) {
	for ref, want := range map[string]string{
		"https://example.org/a.tar?sig=1":    "https://example.org/a.tar",
		"https://example.org/a//?x#y":        "https://example.org/a",
		"HTTPS://example.org/a/":             "HTTPS://example.org/a",
		"https://example.org/a#part":         "https://example.org/a",
		"http://example.org/a?x":             "http://example.org/a?x",
		"reg.example/a@sha256:00":            "reg.example/a@sha256:00",
		"oci-layout:/srv/x/":                 "oci-layout:/srv/x/",
		"https://exa mple.org/%zz?not=asked": "https://exa mple.org/%zz?not=asked",
	} {
		if got := artifactIdentity(ref); got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
}
