package interpreter

import (
	"context"
	"errors"

	"hostler/interpreter/eval"
	"hostler/interpreter/record"
)

// Desk evaluates the recipe given for the host as it is and returns a desk
// beside it, for expressions of tests and of the console. Nothing is changed.
func (in *Interpreter) Desk(ctx context.Context, req Request, extra eval.Extra) (desk *eval.Desk, err error) {
	_, err = in.shadowed(ctx, req, func(ctx context.Context, r *run) error {
		given, inputs, err := r.identity(req)
		switch {
		case err != nil:
			return err
		case given == nil:
			return errors.New("expressions are evaluated beside a recipe, and none was given")
		}
		if r.rec == nil {
			r.rec = &record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: given.Recipe}, Fingerprint: given.Fingerprint, Prefix: given.Prefix}
		}
		if err := r.mint(); err != nil {
			return err
		}
		d, diags := req.Recipe.Desk(inputs, r.environment(ctx, r.prefix(req)), extra)
		if diags.HasErrors() {
			return diags
		}
		desk = d
		return nil
	})
	return desk, err
}
