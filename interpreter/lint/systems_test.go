package lint_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
)

func TestOldestSystemd(t *testing.T) {
	cases := []struct {
		supports, steps string
		want            int
		ok              bool
	}{
		{"supports \"a\" {\n id = \"debian\"\n version_id = \">= 12\"\n}", "", 252, true},
		{"supports \"a\" {\n id = \"debian\"\n version_id = \">= 13\"\n}\nsupports \"b\" {\n id = \"ubuntu\"\n version_id = \"~> 22.4\"\n}", "", 249, true},
		{"supports \"a\" {\n id = \"debian\"\n}", "", 0, false},
		{"supports \"a\" {\n id = \"flatcar\"\n version_id = \">= 4000\"\n}", "", 0, false},
		{"supports \"a\" {\n id = \"debian\"\n version_id = \">= 12\"\n}\nsupports \"b\" {}", "", 0, false},
		{"supports \"a\" {\n id = \"debian\"\n version_id = \">= 12\"\n}", "require_capability \"s\" {\n  systemd_min = 256\n}\n", 256, true},
	}
	for _, c := range cases {
		text := "recipe \"demo\" {\n language = 1\n version = \"1.0.0\"\n" + c.supports + "\n}\n" + c.steps
		rule := &lint.Rule{Name: "look", Check: func(p *lint.Pass) {
			if got, ok := p.OldestSystemd(); got != c.want || ok != c.ok {
				t.Errorf("%s %s: %d, %v", c.supports, c.steps, got, ok)
			}
		}}
		res := linter(rule).Lint(lint.Input{Source: eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: []byte(text)}}, "."), Config: lint.DefaultConfig([]*lint.Rule{rule})})
		for _, f := range res.Findings {
			t.Error(show(f))
		}
	}
}

func TestImageManaged(t *testing.T) {
	text := "recipe \"demo\" {\n  language = 1\n  version = \"1.0.0\"\n"
	for _, s := range []string{"debian", "flatcar", "azurelinux", "acl:azurelinux:azurecontainerlinux", "fcos:fedora:coreos", "like:azurelinux::flatcar", "fedora"} {
		part := strings.Split(s, ":")
		text += "  supports \"" + part[0] + "\" {\n    id = \"" + part[min(1, len(part)-1)] + "\"\n"
		if len(part) == 4 {
			text += "    id_like = \"" + part[3] + "\"\n"
		}
		if len(part) == 3 {
			text += "    variant_id = \"" + part[2] + "\"\n"
		}
		text += "  }\n"
	}
	rule := &lint.Rule{Name: "look", Check: func(p *lint.Pass) {
		want := map[string]bool{"flatcar": true, "acl": true, "fcos": true, "like": true}
		for _, s := range p.Supports() {
			if s.ImageManaged() != want[s.Name] {
				t.Errorf("%s: %v", s.Name, s.ImageManaged())
			}
			if r := s.Range("variant_id"); (s.VariantID == "") != (r == s.Block.DefRange()) {
				t.Errorf("%s: %v", s.Name, r)
			}
		}
	}}
	res := linter(rule).Lint(lint.Input{Source: eval.Tree("", fstest.MapFS{"recipe.hcl": {Data: []byte(text + "}\n")}}, "."), Config: lint.DefaultConfig([]*lint.Rule{rule})})
	for _, f := range res.Findings {
		t.Error(show(f))
	}
}
