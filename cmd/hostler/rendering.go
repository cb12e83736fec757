package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"hostler/interpreter/deliver"
	"hostler/interpreter/eval"
)

// rendering is what render is asked to write.
type rendering struct {
	deliver.Request
	credentials           []string
	platform              string
	pointerURL, wholeFile string
}

// rendered is the text for standard output. With a pointer, the whole goes to a
// file.
func (a *app) rendered(f deliver.Format, r *rendering, args []string) (text []byte, warnings []string, err error) {
	p, err := a.payload(f, r, args)
	if err != nil {
		return nil, nil, err
	}
	whole := f.Encode(p)
	text = whole
	if r.pointerURL != "" {
		if text, err = f.Pointer(r.pointerURL, whole); err != nil {
			return nil, nil, err
		}
	}
	limits, err := deliver.Fits(len(text), r.platform)
	if err == nil && r.pointerURL != "" {
		err = writePrivate(r.wholeFile, whole)
	}
	return text, append(p.Warnings, limits...), err
}

// writePrivate writes a file that nobody but its owner may read, also where one
// is that others may. What is no file, such as a pipe, is left as it is.
func writePrivate(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}

// payload is what the flags and RECIPE ask to deliver. What is missing is
// reported at once.
func (a *app) payload(f deliver.Format, r *rendering, args []string) (*deliver.Payload, error) {
	if (r.pointerURL == "") != (r.wholeFile == "") {
		return nil, usagef("--pointer-url and --pointer-file go together: where the host fetches the whole, and the file that gets it")
	}
	if len(args) == 0 {
		return nil, usagef("render %s needs a recipe: a directory with recipe.hcl, a .hcl file, or recipe:NAME", f.Name)
	}
	var err error
	if r.Credentials, err = credentialFlags(r.credentials); err != nil {
		return nil, err
	}
	r.Prefix = a.flags.prefix
	given, err := a.given()
	if err != nil {
		return nil, err
	}
	recipe, bundle, diags := a.load(args[0])
	if diags.HasErrors() {
		return nil, diags
	}
	inputs, diags := recipe.Inputs(given)
	a.files = inputs.Files()
	if diags.HasErrors() {
		return nil, append(diags, recipe.Missing(inputs)...)
	}
	if err := errors.Join(f.Check(r.Request), r.missing(recipe, inputs)); err != nil {
		return nil, err
	}
	diags = append(diags, recipe.Validate(inputs)...)
	if diags.HasErrors() {
		return nil, diags
	}
	a.found, r.Inputs = diags, recipe.InputsFile(inputs)
	if err := bundle.Whole(); err != nil {
		return nil, err
	}
	if r.Recipe, err = deliver.Lay(args[0], bundle.Files()); err != nil {
		return nil, err
	}
	p, err := deliver.New(f, r.Request)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, spoken(recipe, inputs)...)
	return p, nil
}

// missing says which variables would keep the recipe from running on the host. A
// secret that no step is made from keeps it from nothing.
func (r *rendering) missing(recipe *eval.Recipe, inputs eval.Inputs) error {
	var faults []error
	secret, needed := map[string]bool{}, recipe.Needed(inputs)
	for _, v := range recipe.Variables() {
		_, there := r.Credentials[v.Name]
		secret[v.Name] = v.Sensitive
		if v.Required && !there && !inputs.Given(v.Name) && (!v.Sensitive || slices.Contains(needed, v.Name)) {
			problem := fmt.Sprintf("variable %q has no default and no value; give it in a file with --inputs, or with --var", v.Name)
			if v.Sensitive {
				problem += fmt.Sprintf(", or leave it on the host: %s %s=FILE", deliver.FlagCredential, v.Name)
			}
			faults = append(faults, &deliver.FlagError{Flag: "--inputs", Problem: problem})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Credentials)) {
		if !secret[name] {
			faults = append(faults, &deliver.FlagError{Flag: deliver.FlagCredential, Problem: fmt.Sprintf("the recipe has no sensitive variable %q", name)})
		}
	}
	return errors.Join(faults...)
}

// spoken warns of secrets that become part of what is written.
func spoken(recipe *eval.Recipe, inputs eval.Inputs) []string {
	var names []string
	for _, v := range recipe.Variables() {
		if v.Sensitive && inputs.Given(v.Name) {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"the values of " + strings.Join(names, ", ") + " are part of what is written: who reads user data reads them; " +
		deliver.FlagCredential + " leaves them on the host"}
}

// deliveryFault is a fault of a flag as one of usage.
func deliveryFault(err error) error {
	if has[*deliver.FlagError](err) || has[*deliver.ConflictError](err) {
		return &codeError{code: exitUsage, err: err}
	}
	return err
}
