package interpreter

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// InstallPrefix is the host.prefix of a recipe that says none itself: the one
// that is installed, else the default.
func (in *Interpreter) InstallPrefix(ctx context.Context) (string, error) {
	rec, err := record.NewStore(in.Host, in.Rand).Head(ctx)
	switch {
	case errors.Is(err, record.ErrAbsent):
		return record.DefaultPrefix, nil
	case err != nil:
		return "", err
	}
	return record.InstallPrefix(rec.Prefix), nil
}

// layout is a recipe evaluated for an install prefix that is not the one at
// hand: where an earlier installation of it may have put its files.
type layout struct {
	prefix string
	steps  []block.Placed
}

// layouts are a recipe's, for the prefixes other than at that are known: the
// one given, the one that the recipe says for this host, the default. There are
// none for steps that put nothing below their prefix. A recipe that cannot be
// evaluated for a prefix was never installed there.
func (r *run) layouts(ctx context.Context, recipe *eval.Recipe, inputs eval.Inputs, at layout) (others []layout) {
	if len(below(at)) == 0 {
		return nil
	}
	seen := []string{at.prefix}
	for _, prefix := range []string{r.req.Prefix, recipe.Prefix(r.facts, ""), record.DefaultPrefix} {
		if prefix == "" || slices.Contains(seen, prefix) {
			continue
		}
		seen = append(seen, prefix)
		fingerprint, diags := recipe.Fingerprint(inputs, prefix)
		if diags.HasErrors() {
			continue
		}
		env := r.environment(ctx, prefix)
		env.Ownership.Fingerprint = fingerprint
		program, diags := recipe.Evaluate(inputs, env)
		if diags.HasErrors() {
			continue
		}
		if l := (layout{prefix, program.Steps}); len(below(l)) > 0 {
			others = append(others, l)
		}
	}
	return others
}

// below are the files and links that a layout has below its prefix on the host.
func below(l layout) (all []record.Wanted) {
	for _, w := range record.WantedOf(l.steps) {
		if w.Placed.Machine == "" && w.Key.Kind() == "path" && strings.HasPrefix(w.Key.Name(), l.prefix+"/") {
			all = append(all, w)
		}
	}
	return all
}

// strays are the things below other prefixes that stand exactly as the recipe
// would have made them there.
func (r *run) strays(ctx context.Context, others []layout) (found []Foreign, err error) {
	view := r.host.View()
	for _, l := range others {
		for _, w := range below(l) {
			if w.Owned.Want == nil || w.Owned.Want.Kind == thing.Directory {
				continue
			}
			st, err := w.Owned.Look(ctx, view)
			if errors.Is(err, host.ErrUnknown) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if st.SameContent(*w.Owned.Want) {
				found = append(found, Foreign{Thing: w.Key, Found: st})
			}
		}
	}
	return found, nil
}

// claimStrays claims, before a reset, what an installation below another prefix
// has left: the reset sweeps it too.
func (r *run) claimStrays(ctx context.Context, req Request) {
	name := r.rec.Target
	if name == "" {
		name = r.rec.Applied
	}
	if name == "" {
		return
	}
	err := r.claimStraysOf(ctx, req, name)
	if err != nil && ctx.Err() == nil {
		r.warn(block.Warning{Summary: "Other prefixes not looked at", Detail: err.Error()})
	}
}

func (r *run) claimStraysOf(ctx context.Context, req Request, name string) error {
	t, err := r.storedTarget(ctx, name)
	at := layout{r.installPrefix(), nil}
	if err == nil {
		at.steps = t.steps
	}
	if err != nil || len(below(at)) == 0 {
		return err
	}
	recipe, inputs, _, err := r.storedRecipe(ctx, req, name)
	if err != nil {
		return err
	}
	others := r.layouts(ctx, recipe, inputs, at)
	strays, err := r.strays(ctx, others)
	if err != nil || len(strays) == 0 {
		return err
	}
	scratch := &record.Record{}
	for _, l := range others {
		if _, err := scratch.Retarget(l.steps, r.keyed()); err != nil {
			return err
		}
	}
	for _, s := range strays {
		c := scratch.Claim(s.Thing)
		if c == nil || r.rec.Claim(s.Thing) != nil {
			continue
		}
		c.Origin = thing.Origin{Kind: thing.OriginAbsent}
		r.rec.Claims = append(r.rec.Claims, *c)
		for _, dir := range record.Parents(s.Thing.Name()) {
			if !standing(dir) {
				r.rec.ClaimDir(thing.Key("dir:" + dir))
			}
		}
	}
	return nil
}
