package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"hostler/interpreter/syntax"
)

// formatting is what fmt is asked to do.
type formatting struct {
	check, diff bool
	// differ says that a file was not formatted.
	differ bool
	// faults and errs are about the files that could not be formatted.
	faults hcl.Diagnostics
	errs   []error
}

func (a *app) fmtCommand() *cobra.Command {
	f := &formatting{}
	c := &cobra.Command{
		Use: "fmt [PATH...]", Short: "Format recipes",
		Long:    "Formats .hcl files in place, directories with everything below them; - is standard input. Comments and heredocs are kept.",
		Example: example("hostler fmt ./site", "hostler fmt -check -diff ."),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.format(f, args)
		},
	}
	c.Flags().BoolVar(&f.check, "check", false, "change nothing; exit 1 when a file is not formatted")
	c.Flags().BoolVar(&f.diff, "diff", false, "show what changes")
	c.Flags().BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	return c
}

// format formats everything that is named; what cannot be formatted is
// reported together.
func (a *app) format(f *formatting, args []string) error {
	a.files = map[string]*hcl.File{}
	for _, name := range args {
		if err := a.formatPath(f, name); err != nil {
			return err
		}
	}
	switch err := errors.Join(f.errs...); {
	case f.faults.HasErrors():
		if err != nil {
			fmt.Fprintf(a.err.W, "hostler: %v\n", err)
		}
		return f.faults
	case err != nil:
		return err
	case f.check && f.differ:
		return &codeError{code: exitFailed}
	}
	return nil
}

// keep takes an error for the end: the other files are formatted.
func (f *formatting) keep(err error) {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok {
		f.faults = append(f.faults, diags...)
	} else if err != nil {
		f.errs = append(f.errs, err)
	}
}

func (a *app) formatPath(f *formatting, name string) error {
	if name == "-" {
		src, err := io.ReadAll(a.in)
		if err != nil {
			return err
		}
		f.keep(a.formatStdin(f, src))
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return usagef("%v", err)
	}
	if !info.IsDir() {
		if filepath.Ext(name) != ".hcl" {
			return usagef("fmt formats files whose names end in .hcl, not %s", name)
		}
		f.keep(a.formatFile(f, name))
		return nil
	}
	return a.formatTree(f, name)
}

// formatTree formats the .hcl files below a directory. Files and directories
// whose names start with a dot are left out.
func (a *app) formatTree(f *formatting, top string) error {
	return filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		hidden := name != top && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			f.keep(err)
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden && filepath.Ext(name) == ".hcl":
			f.keep(a.formatFile(f, name))
		}
		return nil
	})
}

// formatted is a text in canonical layout.
func (a *app) formatted(name string, src []byte) ([]byte, error) {
	out, diags := syntax.Format(name, src)
	if diags.HasErrors() {
		a.files[name] = &hcl.File{Bytes: src}
		return nil, diags
	}
	return out, nil
}

func (a *app) formatStdin(f *formatting, src []byte) error {
	out, err := a.formatted("<stdin>", src)
	if err != nil {
		return err
	}
	f.differ = f.differ || !bytes.Equal(src, out)
	if f.diff {
		out = diff.Diff("a/<stdin>", src, "b/<stdin>", out)
	}
	if f.check && !f.diff {
		return nil
	}
	_, err = a.out.W.Write(out)
	return err
}

func (a *app) formatFile(f *formatting, name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name) // reading a pipe would wait
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := a.formatted(name, src)
	if err != nil {
		return err
	}
	if bytes.Equal(src, out) {
		return nil
	}
	f.differ = true
	fmt.Fprintln(a.out.W, name)
	if f.diff {
		if _, err := a.out.W.Write(diff.Diff("a/"+name, src, "b/"+name, out)); err != nil {
			return err
		}
	}
	if f.check {
		return nil
	}
	return rewrite(name, out)
}

// rewrite replaces a file through a temporary one, so that a crash leaves one
// of the two.
func rewrite(name string, data []byte) (err error) {
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".hostler-fmt")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
