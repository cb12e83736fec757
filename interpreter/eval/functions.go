package eval

import (
	"errors"
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"hostler/interpreter/block"
)

// Functions are all functions of the language by name, for documentation and
// tools: those of the vocabulary, the look-ups, and those about ownership.
// They know no host and no recipe; an evaluation makes its own.
func Functions(vocab block.Vocabulary) map[string]function.Function {
	all := map[string]function.Function{}
	if vocab.Functions != nil {
		maps.Copy(all, vocab.Functions(noAssets{}))
	}
	maps.Copy(all, lookupFunctions(Lookups{}, func(lookup) {}))
	all["artifact_identity"] = artifactIdentityFunc
	all["ownership"] = ownershipFunc(func() cty.Value { return cty.UnknownVal(ownershipType) })
	all["fingerprint"] = function.New(&function.Spec{
		Description: "Returns the identity of an installation, \"v1:sha256:...\", from an object of what makes it this installation. It is called once, in the recipe block. Attributes that are null take no part.",
		Params:      []function.Parameter{{Name: "inputs", Type: cty.DynamicPseudoType}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.NilVal, errors.New("fingerprint() is called in the recipe block only")
		},
	})
	return all
}

// noAssets stands for the files of a recipe where there is none.
type noAssets struct{}

func (noAssets) ReadFile(name string) ([]byte, error) {
	return nil, errors.New("there is no recipe to read " + name + " of")
}
