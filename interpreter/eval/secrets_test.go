package eval_test

import (
	"testing"
	"testing/fstest"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
)

// TestSecrets: of what is given only the values for sensitive variables are
// taken, and they go over those that are stored.
func TestSecrets(t *testing.T) {
	src := eval.Tree("test", fstest.MapFS{"recipe.hcl": {Data: []byte(`
recipe "site" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({})
  supports "any" { id = "any" }
}
variable "plain" {
  type    = string
  default = "stored"
}
variable "token" {
  type      = string
  sensitive = true
}
`)}}, ".")
	r, diags := eval.Load(src, block.Vocabulary{}, eval.StandardLoader{}, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, given := range map[string]eval.Given{
		"HCL":        {Strength: eval.FromFile, Filename: "in.hcl", Text: []byte("plain = [1]\nother = 1\ntoken = \"secret\"\n")},
		"JSON":       {Strength: eval.FromFile, Filename: "in.json", Text: []byte(`{"plain": 1, "other": 1, "token": "secret"}`)},
		"credential": {Strength: eval.FromCredential, Name: "token", Text: []byte("secret")},
	} {
		secrets, diags := r.Secrets([]eval.Given{given, {Strength: eval.FromFlag, Name: "other", Text: []byte("x")}})
		if diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
		}
		if secrets.Given("plain") || !secrets.Given("token") {
			t.Errorf("%s: plain %v, token %v; want only the token", name, secrets.Given("plain"), secrets.Given("token"))
		}
		stored, _ := r.Inputs([]eval.Given{{Strength: eval.FromFlag, Name: "plain", Text: []byte("kept")}})
		all := stored.With(secrets)
		if !all.Given("plain") || !all.Given("token") || stored.Given("token") {
			t.Errorf("%s: With must join both and leave the first as it was", name)
		}
	}
}
