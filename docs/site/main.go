// Command site makes a static site of the documentation: go run ./docs/site OUT
// renders the Markdown files of docs into the directory OUT, which it replaces
// if it made it. The table of contents in docs/README.md is the navigation.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed layout.html
var layout string

//go:embed style.css
var style []byte

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("write: go run ./docs/site OUT, in the directory of go.mod")
	}
	b, err := read(os.DirFS("docs"))
	if err != nil {
		return err
	}
	return b.write(args[0])
}

// write writes the site.
func (b *book) write(dir string) error {
	if err := clear(dir); err != nil {
		return err
	}
	files := map[string][]byte{"style.css": style}
	for name := range b.pages {
		files[page(name)] = []byte(b.html(name))
	}
	for name := range b.others {
		text, err := fs.ReadFile(b.files, name)
		if err != nil {
			return err
		}
		files[name] = text
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// clear removes a site that was made before. A directory that holds something
// else is left alone.
func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "style.css")); err != nil {
		return fmt.Errorf("%s is there and holds no site; name another directory", dir)
	}
	return os.RemoveAll(dir)
}
