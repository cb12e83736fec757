package eval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/syntax"
)

// MainFile is the file of a recipe directory that holds the recipe, and assetDir
// the directory with what it brings.
const (
	MainFile = "recipe.hcl"
	assetDir = "files"
)

// Source gives the files of a recipe: a directory, one file, or an embedded
// tree.
type Source interface {
	block.Assets
	// Name says where the recipe is. It is unique: two sources of one name
	// are the same recipe.
	Name() string
	// Main returns the recipe's text and the name that ranges show for it.
	Main() (filename string, src []byte, err error)
}

// Loader opens the sources of use blocks.
type Loader interface {
	// Open opens the recipe that ref names in a use block of the recipe from.
	Open(from Source, ref string) (Source, error)
}

// tree is a recipe in a file tree.
type tree struct {
	fsys fs.FS
	top  string // what stands for the tree's root in names
	dir  string // the recipe's directory in the tree, "." for its root
	main string // base name of the recipe's file
}

// Tree is the recipe in the directory dir of a file tree, "." for its root.
// top stands for the tree's root in messages, for example "recipe:".
func Tree(top string, fsys fs.FS, dir string) Source {
	return &tree{fsys: fsys, top: top, dir: path.Clean(dir), main: MainFile}
}

// Open is the recipe at a path of the machine the program runs on: a directory
// or one .hcl file, whose assets are read from its directory.
func Open(name string) (Source, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return nil, fmt.Errorf("the name is empty; give a directory with %s, or a file whose name ends in .hcl", MainFile)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %s; give a directory with %s, or a file whose name ends in .hcl", name, MainFile)
	case err != nil:
		return nil, err
	}
	if info.IsDir() {
		return directory(name, MainFile), nil
	}
	switch filepath.Ext(name) {
	case ".hcl", ".json":
		return directory(filepath.Dir(name), filepath.Base(name)), nil
	}
	return nil, fmt.Errorf("a recipe is a directory with %s, or a file whose name ends in .hcl; %s is neither", MainFile, name)
}

func directory(dir, main string) *tree {
	return &tree{fsys: jail(dir), top: filepath.ToSlash(filepath.Clean(dir)), dir: ".", main: main}
}

// jail is a directory that no name or link leaves.
type jail string

func (j jail) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(j))
	if err != nil {
		return nil, err
	}
	file, err := openPlain(root, filepath.FromSlash(name))
	return file, errors.Join(err, root.Close())
}

// openPlain opens a file or directory. Opening a pipe would wait for its
// writer, and reading a device may never end.
func openPlain(root *os.Root, name string) (fs.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		if _, outside := os.Stat(filepath.Join(root.Name(), name)); outside == nil {
			err = fmt.Errorf("%s is a link that leads out of the recipe's directory; put what it names there", name)
		}
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s is neither a file nor a directory; a recipe is made of plain files", name)
	}
	return root.Open(name)
}

// Plain is a file tree in which only files and directories can be opened: a pipe
// would wait for its writer. Links are followed.
func Plain(fsys fs.FS) fs.FS { return plain{fsys} }

type plain struct{ fs.FS }

func (p plain) Open(name string) (fs.File, error) {
	info, err := fs.Stat(p.FS, name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = fmt.Errorf("%s is neither a file nor a directory", name)
	}
	if err != nil {
		return nil, err
	}
	return p.FS.Open(name)
}

func (t *tree) Name() string { return t.join(t.main) }

// join is the display name of a file of the recipe.
func (t *tree) join(name string) string {
	if strings.HasSuffix(t.top, ":") {
		return t.top + path.Join(t.dir, name)
	}
	return path.Join(t.top, t.dir, name)
}

// Main reads no more than shows that a text is too large: a file may be of any
// length.
func (t *tree) Main() (string, []byte, error) {
	file, err := t.fsys.Open(path.Join(t.dir, t.main))
	if err != nil {
		return t.Name(), nil, err
	}
	src, err := io.ReadAll(io.LimitReader(file, syntax.MaxFileSize+1))
	return t.Name(), src, errors.Join(err, file.Close())
}

// ReadFile reads a file of the recipe.
func (t *tree) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("%q is no name of a file of the recipe: write a clean path relative to the recipe's directory", name)
	}
	return fs.ReadFile(t.fsys, path.Join(t.dir, name))
}

// AssetNames lists the files below the directory files of a recipe, sorted; none
// when the source is no tree of files.
func AssetNames(src Source) (names []string, err error) {
	t, ok := src.(*tree)
	if !ok {
		return nil, nil
	}
	err = fs.WalkDir(t.fsys, path.Join(t.dir, assetDir), func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == path.Join(t.dir, assetDir):
			return nil
		case err != nil:
			return err
		case !d.IsDir():
			names = append(names, strings.TrimPrefix(name, t.dir+"/"))
		}
		return nil
	})
	return names, err
}

// maxListed bounds how many files of a recipe are looked at.
const maxListed = 10_000

// Match lists files of the recipe, links to files among them.
func (t *tree) Match(dir, pattern string) ([]string, error) {
	var names []string
	err := fs.WalkDir(t.fsys, t.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if names = append(names, below(t.dir, name)); len(names) > maxListed {
			return fmt.Errorf("the recipe's directory has more than %d files", maxListed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return block.MatchFiles(names, dir, pattern)
}

// below is a name without the directory that it starts with.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// StandardLoader opens relative paths, and recipes shipped in the binary.
type StandardLoader struct {
	// Shipped opens recipe:NAME; nil when none are shipped.
	Shipped func(name string) (Source, error)
}

// Open opens what a use block names.
func (l StandardLoader) Open(from Source, ref string) (Source, error) {
	scheme, rest, hasScheme := strings.Cut(ref, ":")
	switch {
	case strings.HasPrefix(ref, "./"), strings.HasPrefix(ref, "../"):
		return relative(from, ref)
	case hasScheme && scheme == "recipe" && l.Shipped != nil:
		return l.Shipped(rest)
	case hasScheme && scheme == "recipe":
		return nil, errors.New("no recipes are shipped with this program")
	case hasScheme && scheme == "oci":
		return nil, errors.New("recipes in registries are not available yet; put the recipe beside this one and write a relative path")
	case path.IsAbs(ref):
		return nil, errors.New("an absolute path ties the recipe to one machine; write a relative path")
	}
	return nil, errors.New(`write a relative path that starts with "./" or "../", or "recipe:NAME" for a shipped recipe`)
}

func relative(from Source, ref string) (Source, error) {
	if o, over := from.(overlay); over {
		return relative(o.Source, ref)
	}
	t, ok := from.(*tree)
	if !ok {
		return nil, fmt.Errorf("%s has no directory that a relative path could start from", from.Name())
	}
	if root, local := t.fsys.(jail); local {
		return Open(filepath.Join(string(root), filepath.FromSlash(ref)))
	}
	dir := path.Join(t.dir, ref)
	if !fs.ValidPath(dir) {
		return nil, errors.New("the path leaves the tree of recipes")
	}
	if path.Ext(dir) == ".hcl" {
		return &tree{fsys: t.fsys, top: t.top, dir: path.Dir(dir), main: path.Base(dir)}, nil
	}
	return Tree(t.top, t.fsys, dir), nil
}
