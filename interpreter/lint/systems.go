package lint

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"hostler/interpreter/eval"
	"hostler/interpreter/host"
)

// Support is a supports block of the recipe.
type Support struct {
	eval.Support
	Block *hclsyntax.Block
}

// Supports are the supports blocks, in order.
func (p *Pass) Supports() []Support {
	header := p.Header()
	if header == nil {
		return nil
	}
	known := map[string]eval.Support{}
	for _, s := range p.Recipe.Header().Supports {
		known[s.Name] = s
	}
	var list []Support
	for _, b := range header.Body.Blocks {
		if b.Type == "supports" && len(b.Labels) > 0 {
			list = append(list, Support{known[b.Labels[0]], b})
		}
	}
	return list
}

// Range is where an argument of the block is written, else its header.
func (s Support) Range(name string) hcl.Range {
	if a := s.Block.Body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return s.Block.DefRange()
}

// ImageManaged says that hosts of that kind get their software with the image,
// so that /usr cannot be written. Those that say so themselves are known to
// package host; Flatcar has a read-only /usr without saying it.
func (s Support) ImageManaged() bool {
	os := host.OSRelease{ID: s.ID, IDLike: []string{s.IDLike}, VariantID: s.VariantID}
	return s.ID == "flatcar" || os.DeclaresImageManaged()
}

// release is a release of a distribution and the systemd that it ships.
type release struct {
	id, version string
	systemd     int
}

// releases are the releases in support, from the package lists of the
// distributions.
func releases() []release {
	return []release{
		{"almalinux", "8", 239}, {"almalinux", "9", 252}, {"almalinux", "10", 257},
		{"azurelinux", "3.0", 255},
		{"debian", "11", 247}, {"debian", "12", 252}, {"debian", "13", 257},
		{"mariner", "2.0", 250},
		{"rhel", "8", 239}, {"rhel", "9", 252}, {"rhel", "10", 257},
		{"rocky", "8", 239}, {"rocky", "9", 252}, {"rocky", "10", 257},
		{"ubuntu", "20.04", 245}, {"ubuntu", "22.04", 249}, {"ubuntu", "24.04", 255}, {"ubuntu", "25.10", 257}, {"ubuntu", "26.04", 259},
	}
}

// KnownSystems are the ids of distributions, as os-release(5) of each has them.
func KnownSystems() []string {
	return []string{
		"almalinux", "alpine", "amzn", "arch", "azurelinux", "centos", "cos", "debian", "fedora", "flatcar", "linuxmint", "mariner", "nixos",
		"ol", "opensuse-leap", "opensuse-tumbleweed", "photon", "raspbian", "rhcos", "rhel", "rocky", "sled", "sles", "talos", "ubuntu",
	}
}

// OldestSystemd is the oldest systemd that a host of the recipe may have: what
// require_capability asks for, else what the oldest supported releases ship. ok
// is false when that cannot be told.
func (p *Pass) OldestSystemd() (version int, ok bool) {
	for _, s := range p.Steps("require_capability") {
		v := s.Arg("systemd_min").Value
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.Number {
			n, _ := v.AsBigFloat().Int64()
			return int(n), true
		}
	}
	for _, s := range p.Supports() {
		oldest := 0
		for _, r := range releases() {
			if r.id == s.ID && s.VersionID != "" && eval.Allows(s.VersionID, r.version) && (oldest == 0 || r.systemd < oldest) {
				oldest = r.systemd
			}
		}
		if oldest == 0 {
			return 0, false
		}
		if version == 0 || oldest < version {
			version = oldest
		}
	}
	return version, version > 0
}
