package interpreter

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// admit asks whether the command may run and runs it.
func (r *run) admit(ctx context.Context, verb record.Verb, req Request) error {
	if verb != record.Ensure {
		r.readClaims() // what is wrong with them, admission says
	}
	given, inputs, givenErr := r.identity(req)
	if r.keyErr != nil {
		return r.keyErr
	}
	admission, err := record.Admit(verb, r.rec, r.loadErr, given, givenErr)
	if _, refused := errors.AsType[*record.RefusedError](err); refused {
		return errors.Join(givenErr, err) // what is given may be wrong, too
	}
	if err != nil {
		return err
	}
	for _, warning := range admission.Warnings {
		r.warn(warning)
	}
	if verb == record.Apply && r.trial() {
		if req.Previous {
			return r.settle(ctx, req)
		}
		return r.trialError()
	}
	switch admission.Course {
	case record.Fresh:
		return r.fresh(ctx, req, inputs, given)
	case record.Maintain:
		return r.maintain(ctx, req)
	}
	if req.Previous {
		return r.back(ctx)
	}
	if admission.Course == record.Resume {
		return r.resume(ctx, req)
	}
	return r.toward(ctx, req, inputs)
}

// identity evaluates the fingerprint of the recipe and inputs given; nil when
// none were given or they cannot be read.
func (r *run) identity(req Request) (*record.Identity, eval.Inputs, error) {
	var none eval.Inputs
	if req.Unreadable != nil {
		return nil, none, req.Unreadable
	}
	if req.Recipe == nil {
		return nil, none, nil
	}
	inputs, diags := req.Recipe.Inputs(req.Given)
	r.out.Warnings = append(r.out.Warnings, warnings(diags)...)
	if diags.HasErrors() {
		return nil, none, append(diags, req.Recipe.Missing(inputs)...)
	}
	prefix := r.prefix(req)
	fingerprint, diags := req.Recipe.Fingerprint(inputs, prefix)
	if diags.HasErrors() {
		return nil, none, diags
	}
	return &record.Identity{Recipe: req.Recipe.Header().Name, Fingerprint: fingerprint, Prefix: elided(prefix)}, inputs, nil
}

// prefix resolves the install prefix: what was given, what is installed, what
// the recipe says for this host, the default.
func (r *run) prefix(req Request) string {
	switch {
	case req.Prefix != "":
		return req.Prefix
	case r.rec != nil && r.rec.Prefix != "":
		return r.rec.Prefix
	case r.rec != nil || req.Recipe == nil:
		return record.DefaultPrefix
	}
	return req.Recipe.Prefix(r.facts, "")
}

// elided is a prefix as the record and the fingerprint know it: absent at the
// default.
func elided(prefix string) string {
	if prefix == record.DefaultPrefix {
		return ""
	}
	return prefix
}

func warnings(diags hcl.Diagnostics) (ws hcl.Diagnostics) {
	for _, d := range diags {
		if d.Severity == hcl.DiagWarning {
			ws = append(ws, d)
		}
	}
	return ws
}

func (r *run) warn(w block.Warning) {
	r.out.Warnings = append(r.out.Warnings, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: w.Summary, Detail: w.Detail})
}
