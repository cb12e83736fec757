package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"hostler/testdata/demo/fixture"
)

// debian DIR: makes a small Debian host with an image in /srv/worker-image.
func debian(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(fixture.Debian(ts.MkAbs(args[0])))
	ts.Check(fixture.Layout(ts.MkAbs(args[0] + "/srv/worker-image")))
}

// snapshot DIR FILE: describes a tree, names sorted, into a file.
func snapshot(ts *testscript.TestScript, _ bool, args []string) {
	writeTree(ts, args, false)
}

// inode DIR FILE: as snapshot, with inodes and times: what is written again
// shows.
func inode(ts *testscript.TestScript, _ bool, args []string) {
	writeTree(ts, args, true)
}

func writeTree(ts *testscript.TestScript, args []string, inodes bool) {
	tree, err := fixture.Tree(ts.MkAbs(args[0]), inodes)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(tree), 0o644))
}

// same FILE FILE: two descriptions are equal; says what differs.
func same(ts *testscript.TestScript, neg bool, args []string) {
	diff := fixture.Differing(ts.ReadFile(args[0]), ts.ReadFile(args[1]))
	if (diff != "") != neg {
		ts.Fatalf("%s and %s: %s", args[0], args[1], diff)
	}
}
