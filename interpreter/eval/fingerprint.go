package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// artifactIdentityFunc is artifact_identity(ref).
var artifactIdentityFunc = function.New(&function.Spec{
	Description: "Returns what identifies an artifact: an https reference without its query and trailing slashes, anything else as it is.",
	Params:      []function.Parameter{{Name: "ref", Type: cty.String}},
	Type:        function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return cty.StringVal(artifactIdentity(args[0].AsString())), nil
	},
})

// artifactIdentity leaves out of an https reference what may differ between
// two downloads of the same thing: query, fragment and trailing slashes.
func artifactIdentity(ref string) string {
	if !strings.HasPrefix(strings.ToLower(ref), "https://") {
		return ref
	}
	if _, err := url.Parse(ref); err != nil {
		return ref
	}
	if i := strings.IndexAny(ref, "?#"); i >= 0 {
		ref = ref[:i]
	}
	return strings.TrimRight(ref, "/")
}

// fingerprintCall is the argument of the call in the recipe block.
func (r *Recipe) fingerprintCall(a *hclsyntax.Attribute) hclsyntax.Expression {
	call, ok := a.Expr.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "fingerprint" {
		r.errorf(a.Expr.Range(), "Invalid fingerprint", "Write fingerprint = fingerprint({ … }) with what makes an installation this installation.")
		return nil
	}
	if len(call.Args) != 1 || call.ExpandFinal {
		r.errorf(call.Range(), "Invalid fingerprint", "fingerprint() takes one object: fingerprint({ NAME = VALUE, … }).")
		return nil
	}
	return call.Args[0]
}

// Fingerprint is the identity that the inputs give an installation:
// "v1:sha256:HEX" over canonical JSON of the recipe's name, the object in the
// recipe block, the fingerprints of the recipes it uses, and the install
// prefix where it is not DefaultPrefix. Nothing of the host takes part.
func (r *Recipe) Fingerprint(in Inputs, prefix string) (string, hcl.Diagnostics) {
	if r.broken {
		return "", nil
	}
	run := newRun(r, Environment{}, asIdentity)
	f := run.frame(r, in)
	sum, ok := f.fingerprint(prefix)
	if !ok && !run.failed() {
		run.add(r.Missing(in)...)
	}
	if !ok && !run.failed() {
		run.errorf(r.header.rng, "Fingerprint not known", "The fingerprint depends on values that are not known.")
	}
	return sum, run.sorted()
}

// fingerprint is false where it cannot be known.
func (f *frame) fingerprint(prefix string) (string, bool) {
	doc := map[string]cty.Value{"recipe": cty.StringVal(f.recipe.header.Name)}
	ok := true
	if expr := f.recipe.header.fingerprint; expr != nil && f.recipe.faulty[expr] {
		return "", false
	} else if expr != nil {
		doc["inputs"], ok = f.identity(expr)
	}
	uses := map[string]cty.Value{}
	for _, it := range f.recipe.items {
		u, isUse := it.(*use)
		if !isUse || u.recipe == nil || !f.joins(u) {
			continue
		}
		child := f.used(u)
		sum, known := child.fingerprint(DefaultPrefix)
		uses[u.label], ok = cty.StringVal(sum), ok && known
	}
	if len(uses) > 0 {
		doc["uses"] = cty.ObjectVal(uses)
	}
	if prefix != "" && prefix != DefaultPrefix {
		doc["prefix"] = cty.StringVal(prefix)
	}
	if !ok {
		return "", false
	}
	text, err := canonical(cty.ObjectVal(doc))
	if err != nil {
		f.run.errorf(f.recipe.header.rng, "Invalid fingerprint", "The fingerprint cannot be made: %s.", err)
		return "", false
	}
	return "v1:" + digest(text), true
}

// digest is "sha256:HEX" of b.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// joins says whether the fingerprint of a used recipe joins. A use block that
// is off for all hosts does not; one whose when asks the host always does, so
// that identity never depends on the host.
func (f *frame) joins(u *use) bool {
	if u.when == nil || u.whenLevel > placeIdentity {
		return true
	}
	on, known := f.bench(nil).whether("when", u.when)
	return on || !known
}

// identity evaluates the object of a fingerprint.
func (f *frame) identity(expr hclsyntax.Expression) (cty.Value, bool) {
	v, diags := evaluate(expr, f.bench(nil).context(expr))
	f.run.add(diags...)
	raw, s := reveal(v)
	switch {
	case diags.HasErrors():
		return cty.NilVal, false
	case s.sensitive:
		f.run.errorf(expr.Range(), "Sensitive value here", "The fingerprint is stored and shown, so no sensitive value can be part of it. Leave it out: a new secret is not a new installation.")
		return cty.NilVal, false
	case !raw.IsWhollyKnown():
		return cty.NilVal, false
	case raw.IsNull() || !raw.Type().IsObjectType() && !raw.Type().IsMapType():
		f.run.errorf(expr.Range(), "Invalid fingerprint", "fingerprint() takes an object: fingerprint({ NAME = VALUE, … }).")
		return cty.NilVal, false
	}
	return raw, true
}
