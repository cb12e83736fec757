// Command stage sets the stage of the demo: "stage make DIR" makes a host with
// an image in its /srv, "stage tree DIR" describes a tree, "stage files DIR"
// with inodes and times.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"hostler/testdata/demo/fixture"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: stage make|tree|files DIR")
	}
	if args[0] == "make" {
		if err := fixture.Debian(args[1]); err != nil {
			return err
		}
		return fixture.Layout(filepath.Join(args[1], "srv/worker-image"))
	}
	tree, err := fixture.Tree(args[1], args[0] == "files")
	fmt.Print(tree)
	return err
}
