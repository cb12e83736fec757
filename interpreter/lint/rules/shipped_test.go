package rules_test

import (
	"path/filepath"
	"testing"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/recipes"
)

// TestNoFalseAlarm holds that nothing is found in what is shipped and shown,
// with every rule. That a recipe has no tests is no false alarm.
func TestNoFalseAlarm(t *testing.T) {
	d := lint.Discovery{Rules: rules.All(), Override: func(c *lint.Config) { c.Profile = lint.Strict }}
	inputs, err := d.Find([]string{"../../../examples", "../../../recipes"})
	if err != nil {
		t.Fatal(err)
	}
	l := linter()
	l.Loader = eval.StandardLoader{Shipped: recipes.Open}
	if len(inputs) < 3 {
		t.Fatalf("%d recipes", len(inputs))
	}
	for _, res := range l.All(inputs) {
		for _, f := range res.Findings {
			if f.Rule != "recipe-untested" {
				t.Errorf("%s: %s", filepath.ToSlash(res.Name), show(f))
			}
		}
	}
}
