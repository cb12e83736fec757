package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/host"
)

// Support is the first of the supports blocks that the host matches, nil when
// there is none.
func (r *Recipe) Support(f host.Facts) *Support {
	for i := range r.header.Supports {
		if r.header.matches(i, f.OS) {
			return &r.header.Supports[i]
		}
	}
	return nil
}

func (h header) matches(i int, os host.OSRelease) bool {
	s := h.Supports[i]
	if s.ID != "" && s.ID != os.ID || s.VariantID != "" && s.VariantID != os.VariantID || s.IDLike != "" && !slices.Contains(os.IDLike, s.IDLike) {
		return false
	}
	if s.VersionID == "" {
		return true
	}
	v, err := parseVersion(os.VersionID)
	return err == nil && h.versions[i].allows(v)
}

// Prefix is the install prefix on a host: given, if that is not "", else the
// default_prefix of the kind of host, else DefaultPrefix.
func (r *Recipe) Prefix(f host.Facts, given string) string {
	if given != "" {
		return given
	}
	if s := r.Support(f); s != nil && s.DefaultPrefix != "" {
		return s.DefaultPrefix
	}
	return DefaultPrefix
}

// checkSupport reports a host that the recipe and those it uses do not
// support, as a warning when that is to be let through.
func (r *Recipe) checkSupport(f host.Facts, skip bool) *hcl.Diagnostic {
	if len(r.header.Supports) == 0 || r.Support(f) != nil {
		return nil
	}
	names := make([]string, len(r.header.Supports))
	for i, s := range r.header.Supports {
		names[i] = s.Name
	}
	d := fault(r.header.rng, "Unsupported host", "The recipe %s supports %s, and this host %s. Use a recipe made for it, or add a supports block after you tested it.",
		r.header.Name, oneOf(names), describeOS(f.OS))
	d.Extra = isUnsupported{}
	if skip {
		d.Severity, d.Extra = hcl.DiagWarning, nil
	}
	return d
}

func describeOS(os host.OSRelease) string {
	if os.ID == "" {
		return "has no os-release"
	}
	text := fmt.Sprintf("has id %q", os.ID)
	if len(os.IDLike) > 0 {
		text += fmt.Sprintf(", id_like %q", strings.Join(os.IDLike, " "))
	}
	if os.VariantID != "" {
		text += fmt.Sprintf(", variant_id %q", os.VariantID)
	}
	if os.VersionID == "" {
		return text + " and no version_id"
	}
	return text + fmt.Sprintf(", version_id %q", os.VersionID)
}
