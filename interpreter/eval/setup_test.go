package eval

import (
	"testing"
	"testing/fstest"

	"hostler/interpreter/block"
)

const minimal = `recipe "demo" {
  language = 1
  version  = "1.0.0"
  supports "any" {}
}
`

// load reads a recipe of one file, with the minimal header in front.
func load(t *testing.T, vocab block.Vocabulary, body string) *Recipe {
	t.Helper()
	files := fstest.MapFS{"tree/recipe.hcl": {Data: []byte(minimal + body)}}
	r, diags := Load(Tree("", fsub(files), "."), vocab, nil, "")
	if diags.HasErrors() {
		t.Fatal(diagnosticsText(diags))
	}
	return r
}

func live() Environment { return Environment{Facts: debian()} }
