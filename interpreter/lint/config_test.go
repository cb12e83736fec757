package lint_test

import (
	"strings"
	"testing"

	"hostler/interpreter/lint"
)

func configRules() []*lint.Rule {
	basic, strict := words("find-a", "/a"), words("find-b", "/b")
	basic.Severity, strict.Profile = lint.Error, lint.Strict
	return []*lint.Rule{basic, strict, {Name: "validate"}}
}

func TestConfig(t *testing.T) {
	recipe := files{"recipe.hcl": "directory \"a\" {\n  path = \"/a\"\n}\ndirectory \"b\" {\n  path = \"/b\"\n}\n"}
	cases := []struct{ config, want string }{
		{``, "error find-a"},
		{`profile = "strict"`, "error find-a, warning find-b"},
		{"profile = \"strict\"\nminimum_severity = \"error\"", "error find-a"},
		{`rule "find-a" { severity = "warning" }`, "warning find-a"},
		{`rule "find-a" { enabled = false }`, ""},
		{`rule "find-b" { enabled = true }`, "error find-a, warning find-b"},
		{"rule \"find-b\" {\n  enabled  = true\n  severity = \"error\"\n}\nminimum_severity = \"error\"", "error find-a, error find-b"},
	}
	for _, c := range cases {
		rules := configRules()
		config, diags := lint.ParseConfig("c.hcl", []byte(c.config), rules)
		if diags.HasErrors() {
			t.Errorf("%s: %v", c.config, diags)
			continue
		}
		var got []string
		for _, f := range linter(rules...).Lint(lint.Input{Source: recipe.source(), Config: config}).Findings {
			got = append(got, f.Severity.String()+" "+f.Rule)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.config, got, c.want)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	cases := []struct{ config, at, want string }{
		{`profile = "nice"`, `"nice"`, "no profile"},
		{`profile = 1`, `1`, "no profile"},
		{`profle = "safe"`, `profle`, `Did you mean "profile"?`},
		{`minimum_severity = "info"`, `"info"`, "no severity"},
		{`exclude = "a"`, `"a"`, "list of paths"},
		{`exclude = [1]`, `[1]`, "string in double quotes"},
		{`exclude = ["a["]`, `["a["]`, "bracket is not closed"},
		{`rule "find-c" {}`, `"find-c"`, `Did you mean "find-a"?`},
		{`rule {}`, `rule`, `Write rule "NAME"`},
		{`rules "find-a" {}`, `rules "find-a"`, `Write rule "NAME"`},
		{`rule "find-a" { severity = "bad" }`, `"bad"`, "no severity"},
		{`rule "find-a" { enabled = "no" }`, `"no"`, "true or false"},
		{`rule "find-a" { enable = false }`, `enable`, `Did you mean "enabled"?`},
		{`rule "validate" { enabled = false }`, `rule "validate"`, "always reported"},
		{`profile = `, ``, ""},
	}
	for _, c := range cases {
		_, diags := lint.ParseConfig("c.hcl", []byte(c.config), configRules())
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.want) {
			t.Errorf("%s: %v", c.config, diags)
			continue
		}
		if got := string(diags[0].Subject.SliceBytes([]byte(c.config + "\n"))); c.at != "" && got != c.at {
			t.Errorf("%s: at %q", c.config, got)
		}
	}
}

// TestValidateWeighsWhatItWeighs: an invalid recipe is an error, whatever the
// configuration says.
func TestValidateWeighsWhatItWeighs(t *testing.T) {
	rules := configRules()
	config, diags := lint.ParseConfig("c.hcl", []byte("minimum_severity = \"error\"\nrule \"validate\" {\n  severity = \"warning\"\n}\n"), rules)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	res := linter(rules...).Lint(lint.Input{Source: files{"recipe.hcl": "nonsense \"x\" {}\n"}.source(), Config: config})
	if len(res.Findings) != 1 || res.Findings[0].Severity != lint.Error || res.Count(lint.Error) != 1 {
		t.Errorf("%+v", res.Findings)
	}
}

func TestExcludes(t *testing.T) {
	config, diags := lint.ParseConfig("c.hcl", []byte(`exclude = ["testdata", "a/*.hcl", "**/old/**", "./b"]`), nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, want := range map[string]bool{
		"testdata/x/recipe.hcl": true, "x/testdata/recipe.hcl": false, "a/x.hcl": true, "a/b/x.hcl": false,
		"x/y/old/z/recipe.hcl": true, "old/recipe.hcl": true, "b/recipe.hcl": true, "recipe.hcl": false,
	} {
		if config.Excludes(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
