package eval

import (
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/host"
)

var factsType = cty.Object(map[string]cty.Type{
	"os": cty.Object(map[string]cty.Type{
		"id": cty.String, "id_like": cty.List(cty.String), "version_id": cty.String, "variant_id": cty.String, "name": cty.String,
	}),
	"arch": cty.String, "hostname": cty.String, "kernel": cty.String, "systemd": cty.Number,
	"image_managed": cty.Bool, "prefix": cty.String, "root": cty.String,
})

// FactNames lists what expressions read of the host, dotted, with what each
// is.
func FactNames() map[string]string {
	return map[string]string{
		"host.os.id":         "ID of os-release(5), for example \"debian\"; \"\" when it is not set, as for the others",
		"host.os.id_like":    "ID_LIKE of os-release(5) as a list",
		"host.os.version_id": "VERSION_ID of os-release(5)",
		"host.os.variant_id": "VARIANT_ID of os-release(5)",
		"host.os.name":       "NAME of os-release(5)",
		"host.arch":          "processor, as Go names it: \"amd64\", \"arm64\"",
		"host.hostname":      "host name; known on a running host only",
		"host.kernel":        "release of the running kernel; known on a running host only",
		"host.systemd":       "version of the running systemd; known on a running host only",
		"host.image_managed": "whether the host is an image that cannot install packages",
		"host.prefix":        "install prefix",
		"host.root":          "directory of an offline host, \"/\" on a running one",
	}
}

// factsValue is what expressions read as host. Facts that only a running host
// has are unknown offline.
func factsValue(f host.Facts, prefix string) cty.Value {
	live := func(v cty.Value) cty.Value {
		if f.Live {
			return v
		}
		return cty.UnknownVal(v.Type()).RefineNotNull()
	}
	return cty.ObjectVal(map[string]cty.Value{
		"os": cty.ObjectVal(map[string]cty.Value{
			"id": cty.StringVal(f.OS.ID), "id_like": texts(f.OS.IDLike), "version_id": cty.StringVal(f.OS.VersionID),
			"variant_id": cty.StringVal(f.OS.VariantID), "name": cty.StringVal(f.OS.Name),
		}),
		"arch":          archValue(f.Arch),
		"hostname":      live(cty.StringVal(f.Hostname)),
		"kernel":        live(cty.StringVal(f.Kernel)),
		"systemd":       live(cty.NumberIntVal(int64(f.Systemd))),
		"image_managed": cty.BoolVal(f.ImageManaged),
		"prefix":        cty.StringVal(prefix).Mark(ofHost{}),
		"root":          cty.StringVal(f.Root),
	})
}

// archValue is the processor, unknown where no program of an offline host tells
// it: the build machine's own would be a guess.
func archValue(arch string) cty.Value {
	if arch == "" {
		return unknownText()
	}
	return cty.StringVal(arch)
}

// unknownFacts stand for those of a host that is not there.
func unknownFacts() cty.Value {
	attrs := map[string]cty.Value{}
	for name, ty := range factsType.AttributeTypes() {
		attrs[name] = unknownFact(ty)
	}
	attrs["prefix"] = attrs["prefix"].Mark(ofHost{})
	return cty.ObjectVal(attrs)
}

func unknownFact(ty cty.Type) cty.Value {
	if !ty.IsObjectType() {
		return cty.UnknownVal(ty).RefineNotNull()
	}
	attrs := map[string]cty.Value{}
	for name, inner := range ty.AttributeTypes() {
		attrs[name] = unknownFact(inner)
	}
	return cty.ObjectVal(attrs)
}

func texts(list []string) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	vals := make([]cty.Value, len(list))
	for i, s := range list {
		vals[i] = cty.StringVal(s)
	}
	return cty.ListVal(vals)
}
