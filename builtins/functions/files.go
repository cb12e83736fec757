package functions

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
)

// maxFile is the largest file that a function reads, in bytes. Larger ones are
// written with source, which does not pass through an expression.
const maxFile = 4 << 20

const aFile = "The file, relative to the recipe's directory."

func fileFunctions(assets block.Assets) map[string]function.Function {
	ask := param("path", aFile)
	out := map[string]function.Function{
		"file": text(func(args []string) (string, error) { return readText(assets, args[0]) },
			"Returns the text of a file of the recipe, which must be UTF-8.", ask),
		"filebase64": text(func(args []string) (string, error) {
			data, err := readFile(assets, args[0])
			return base64.StdEncoding.EncodeToString(data), err
		}, "Returns the bytes of a file of the recipe in base64.", ask),
		"fileexists": fileExists(assets, ask),
		"fileset":    fileSet(assets),
		"basename": text(func(args []string) (string, error) { return base(args[0]), nil },
			"Returns the last element of a path.", param("path", "The path.")),
		"dirname": text(func(args []string) (string, error) { return path.Dir(args[0]), nil },
			"Returns a path without its last element.", param("path", "The path.")),
	}
	for _, d := range digests() {
		name := "file" + d.name
		out[name] = text(func(args []string) (string, error) {
			data, err := readFile(assets, args[0])
			return d.of(data), err
		}, "Returns "+d.doc+" of a file of the recipe.", ask)
	}
	return out
}

// base is the last element of a path, "" for an empty one.
func base(p string) string {
	if p == "" {
		return ""
	}
	return path.Base(p)
}

func fileExists(assets block.Assets, ask function.Parameter) function.Function {
	return function.New(&function.Spec{
		Description: "Says whether the recipe has a file of that name.",
		Params:      []function.Parameter{ask},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name, err := inside(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			_, err = assets.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				return cty.False, nil
			}
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.True, nil
		},
	})
}

// fileSet lists files of the recipe, and of nothing else.
func fileSet(assets block.Assets) function.Function {
	return function.New(&function.Spec{
		Description: "Lists the files of the recipe below a directory whose names match a pattern: * and ? stand for what is no slash, ** for any directories, {a,b} for one of several. The names are relative to the directory.",
		Params:      []function.Parameter{param("path", "The directory, relative to the recipe's; \".\" is that itself."), param("pattern", "The pattern.")},
		Type:        function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			matcher, ok := assets.(block.Matcher)
			if !ok {
				return cty.NilVal, errors.New("there are no files to list here")
			}
			names, err := matcher.Match(path.Clean(args[0].AsString()), args[1].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if len(names) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			list := make([]cty.Value, len(names))
			for i, name := range names {
				list[i] = cty.StringVal(name)
			}
			return cty.SetVal(list), nil
		},
	})
}

func readText(assets block.Assets, name string) (string, error) {
	data, err := readFile(assets, name)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", function.NewArgErrorf(0, "%s is no text in UTF-8; use filebase64, or source where a file is written", name)
	}
	return string(data), nil
}

func readFile(assets block.Assets, name string) ([]byte, error) {
	clean, err := inside(name)
	if err != nil {
		return nil, err
	}
	data, err := assets.ReadFile(clean)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, function.NewArgErrorf(0, "the recipe has no file %s", clean)
	case err != nil:
		return nil, function.NewArgErrorf(0, "cannot read the recipe's file %s: %w", clean, err)
	case len(data) > maxFile:
		return nil, function.NewArgErrorf(0, "%s has %d bytes; the limit is %d. Use source where the file is written", clean, len(data), maxFile)
	}
	return data, nil
}

// inside brings the name of a file into clean form and keeps it inside the
// recipe's directory.
func inside(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || clean == "." || !fs.ValidPath(clean) {
		return "", function.NewArgErrorf(0, "%q does not name a file below the recipe's directory", name)
	}
	return clean, nil
}
