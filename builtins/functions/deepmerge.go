package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// deepMerge is merge that goes into objects, as a JSON merge patch (RFC 7396)
// does.
func deepMerge() function.Function {
	return function.New(&function.Spec{
		Description: "Merges maps or objects to one, and those in them in the same way; of anything else the last one wins, lists as a whole. A null takes its key away.",
		VarParam: &function.Parameter{
			Name: "maps", Description: "The maps or objects.", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowNull: true,
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := deeplyMerged(args)
			return v.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return deeplyMerged(args) },
	})
}

// deeplyMerged is the merged object; unknown as a whole while a part is.
func deeplyMerged(args []cty.Value) (cty.Value, error) {
	all := cty.EmptyObjectVal
	for i, arg := range args {
		switch ty := arg.Type(); {
		case ty != cty.DynamicPseudoType && !mergeable(ty):
			return cty.DynamicVal, function.NewArgErrorf(i, "a map or an object is merged, not a %s", ty.FriendlyName())
		case !arg.IsWhollyKnown():
			return cty.DynamicVal, nil
		case arg.IsNull():
			return cty.DynamicVal, function.NewArgErrorf(i, "it is null; give an empty object {} for nothing")
		}
		all = patched(all, arg)
	}
	return all, nil
}

func mergeable(ty cty.Type) bool { return ty.IsObjectType() || ty.IsMapType() }

// patched is an object with another one laid over it, without what is null
// there.
func patched(under, over cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	if !under.IsNull() && mergeable(under.Type()) {
		attrs = under.AsValueMap()
	}
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	for key, v := range over.AsValueMap() {
		below, there := attrs[key]
		switch {
		case v.IsNull():
			delete(attrs, key)
		case mergeable(v.Type()) && there:
			attrs[key] = patched(below, v)
		case mergeable(v.Type()):
			attrs[key] = patched(cty.EmptyObjectVal, v)
		default:
			attrs[key] = v
		}
	}
	return cty.ObjectVal(attrs)
}
