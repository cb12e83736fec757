package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/host/linux"
	"hostler/interpreter/host/offline"
	"hostler/interpreter/operate"
	"hostler/recipes"
)

// open opens the host that the flags name. The running host needs root.
func (a *app) open(ctx context.Context, command string) (host.Host, func() error, error) {
	if a.flags.root != "" {
		h, err := offline.Open(a.flags.root)
		if err != nil {
			return h, nil, usagef("%w", err)
		}
		return h, func() error { return offline.Close(h) }, nil
	}
	if os.Geteuid() != 0 {
		return host.Host{}, nil, &privilegeError{command}
	}
	return linux.Open(ctx)
}

// interpreter is the interpreter on a host.
func (a *app) interpreter(h host.Host, command string) *interpreter.Interpreter {
	return &interpreter.Interpreter{
		Vocabulary: builtins.Vocabulary(), Host: h, Rand: rand.Reader, OwnUnit: linux.OwnUnit(), Ahead: true,
		Program: a.self,
		Holder:  host.Holder{PID: os.Getpid(), Command: "hostler " + command},
		Attend:  operate.Attend(h, version),
	}
}

// on opens the host, runs fn with the interpreter on it, and closes it.
func (a *app) on(ctx context.Context, command string, fn func(in *interpreter.Interpreter) error) error {
	h, closeHost, err := a.open(ctx, command)
	if err != nil {
		return err
	}
	err = fn(a.interpreter(h, command))
	return errors.Join(err, closeHost())
}

// onHost opens the host, runs fn with it, and closes it.
func (a *app) onHost(ctx context.Context, command string, fn func(h host.Host) error) error {
	h, closeHost, err := a.open(ctx, command)
	if err != nil {
		return err
	}
	return errors.Join(fn(h), closeHost())
}

// load reads the recipe of that name. The diagnostics may be warnings only.
func (a *app) load(name string) (*eval.Recipe, *interpreter.Bundle, hcl.Diagnostics) {
	src, err := source(name)
	if err != nil {
		return nil, nil, hcl.Diagnostics{notFound(name, err)}
	}
	b := interpreter.NewBundle()
	loader := b.Loader(eval.StandardLoader{Shipped: recipes.Open})
	r, diags := eval.Load(b.Source(src), builtins.Vocabulary(), loader, version)
	a.recipe = r
	return r, b, diags
}

// unheard warns of values for variables where no recipe is given to evaluate
// with them.
func (a *app) unheard() hcl.Diagnostics {
	if len(a.flags.vars) == 0 {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Inputs without a recipe",
		Detail: "Without a recipe, what is installed keeps the values it was made with: of what --var gives, sensitive values alone are used. Name the recipe to change others."}}
}

// notFound says that there is no recipe of a name.
func notFound(name string, err error) *hcl.Diagnostic {
	text := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		text = fmt.Sprintf("The recipe %s cannot be read: %v", name, e.Err)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Recipe not found", Detail: strings.ToUpper(text[:1]) + text[1:] + "."}
}

func source(name string) (eval.Source, error) {
	if shipped, ok := strings.CutPrefix(name, "recipe:"); ok {
		return recipes.Open(shipped)
	}
	return eval.Open(name)
}

// request is what the flags and arguments ask for. A recipe or inputs that
// cannot be read are part of it: what that means depends on the host.
func (a *app) request(args []string) (interpreter.Request, error) {
	req := interpreter.Request{Prefix: a.flags.prefix, Wait: a.flags.wait}
	given, err := a.given()
	if has[*codeError](err) {
		return req, err
	}
	req.Given, req.Unreadable = given, err
	if len(args) == 0 {
		a.found = append(a.found, a.unheard()...)
		return req, nil
	}
	r, bundle, diags := a.load(args[0])
	if diags.HasErrors() {
		if r != nil {
			inputs, _ := r.Inputs(given)
			diags = append(diags, r.Validate(inputs)...)
		}
		req.Unreadable = diags
		return req, nil
	}
	a.found = diags
	req.Recipe, req.Bundle = r, bundle
	inputs, _ := r.Inputs(given) // the interpreter reports what is wrong with them
	a.files = inputs.Files()
	return req, nil
}
