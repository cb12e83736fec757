package interpreter_test

import (
	"testing"
	"testing/fstest"

	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host/memory"
)

// TestFileset: files of the recipe are listed, those that go are pruned, and the
// stored recipe lists the same ones when it has to be evaluated again.
func TestFileset(t *testing.T) {
	tree := fstest.MapFS{
		"site/recipe.hcl": {Data: []byte(text("variable \"token\" {\n type = string\n sensitive = true\n default = null\n}\n" +
			"write_file_if_changed \"f\" {\n for_each = fileset(\"files\", \"**/*.conf\")\n path = \"/etc/site/${each.key}\"\n content = \"${file(\"files/${each.key}\")}${var.token}\"\n}\n"))},
		"site/files/a.conf":     {Data: []byte("a")},
		"site/files/sub/b.conf": {Data: []byte("b")},
		"site/files/c.txt":      {Data: []byte("c")},
	}
	g := given{vars: []string{"token=secret"}, open: func(r *rig) interpreter.Request {
		return r.load(eval.Tree("test:", tree, "site"), eval.StandardLoader{})
	}}
	r := newRig(t, memory.Options{})
	r.planned(g)
	r.want("/etc/site/a.conf", "asecret")
	r.want("/etc/site/sub/b.conf", "bsecret")
	r.want("/etc/site/c.txt", "(absent)")
	r.quiet(g)
	r.remove("/etc/site/sub/b.conf")
	r.must(ensure, given{vars: g.vars, recipe: nil, open: g.open})
	r.want("/etc/site/sub/b.conf", "bsecret")
	delete(tree, "site/files/sub/b.conf")
	r.planned(g)
	r.want("/etc/site/sub/b.conf", "(absent)")
	r.must(apply, g)
	r.must(reset, nothing)
	r.same(r.Before)
}
