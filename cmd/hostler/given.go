package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// given gathers the values for variables, weakest first: environment, --inputs
// files, credentials, --var. Files that cannot be read are diagnostics.
func (a *app) given() (given []eval.Given, err error) {
	for _, entry := range a.environ() {
		name, value, _ := strings.Cut(entry, "=")
		if name, ours := strings.CutPrefix(name, eval.EnvironmentPrefix); ours && name != "" {
			given = append(given, eval.Given{Strength: eval.FromEnvironment, Name: name, Text: []byte(value)})
		}
	}
	var unreadable hcl.Diagnostics
	for _, name := range a.flags.inputs {
		data, err := readInputs(name)
		if err != nil {
			unreadable = append(unreadable, unreadableInputs(name, err))
			continue
		}
		given = append(given, eval.Given{Strength: eval.FromFile, Filename: name, Text: data})
	}
	credentials, diags := a.credentials()
	given, unreadable = append(given, credentials...), append(unreadable, diags...)
	for _, text := range a.flags.vars {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("--var takes NAME=VALUE")
		}
		given = append(given, eval.Given{Strength: eval.FromFlag, Name: name, Text: []byte(value)})
	}
	if unreadable.HasErrors() {
		return given, unreadable
	}
	return given, nil
}

// readInputs reads an inputs file, which may be a pipe, and no more of it than
// shows that it is too large.
func readInputs(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, syntax.MaxFileSize+1))
	return data, errors.Join(err, file.Close())
}

func unreadableInputs(name string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Inputs not readable", Detail: fmt.Sprintf("%s: %v.", name, reason(err))}
}

// reason is an error without the path that it repeats.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// credentials reads systemd credentials; those of sensitive variables are
// used.
func (a *app) credentials() (given []eval.Given, unreadable hcl.Diagnostics) {
	dir, ok := a.env("CREDENTIALS_DIRECTORY")
	if !ok || dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableInputs("CREDENTIALS_DIRECTORY", err)}
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, hcl.Diagnostics{unreadableInputs("CREDENTIALS_DIRECTORY", err)}
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := root.ReadFile(e.Name())
		if err != nil {
			unreadable = append(unreadable, unreadableInputs("credential "+e.Name(), err))
			continue
		}
		given = append(given, eval.Given{Strength: eval.FromCredential, Name: e.Name(), Text: data})
	}
	return given, unreadable
}
