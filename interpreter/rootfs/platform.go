package rootfs

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Platform is what an image is made for, in the words of OCI.
type Platform struct {
	OS, Architecture, Variant string
}

// ParsePlatform reads "linux/amd64" or "linux/arm64/v8".
func ParsePlatform(s string) (Platform, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Platform{}, fmt.Errorf("platform %q must be written OS/ARCHITECTURE[/VARIANT], for example \"linux/amd64\"", s)
	}
	p := Platform{OS: parts[0], Architecture: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	return p, nil
}

func (p Platform) String() string {
	s := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		s += "/" + p.Variant
	}
	return s
}

// defaultVariant is the variant that is meant when none is named.
func (p Platform) defaultVariant() string {
	switch {
	case p.Variant != "":
		return p.Variant
	case p.Architecture == "arm64":
		return "v8"
	case p.Architecture == "arm":
		return "v7"
	case p.Architecture == "amd64":
		return "v1"
	}
	return ""
}

// rank says how well an image made for got suits a machine that is p: 0 not at
// all, more is better. A 32-bit arm machine runs lower variants too.
func (p Platform) rank(got Platform) int {
	if got.OS != p.OS || got.Architecture != p.Architecture {
		return 0
	}
	want, have := p.defaultVariant(), got.defaultVariant()
	switch {
	case got.Variant == p.Variant:
		return 10
	case want == have:
		return 9
	case p.Architecture == "arm" && len(have) == 2 && have < want:
		return int(have[1] - '0')
	}
	return 0
}

func platformOf(p *v1.Platform) Platform {
	if p == nil {
		return Platform{}
	}
	return Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant}
}

// isAttestation says whether d describes another image instead of being one.
func isAttestation(d v1.Descriptor) bool {
	if d.Annotations["vnd.docker.reference.type"] != "" {
		return true
	}
	return d.Platform != nil && d.Platform.OS == "unknown" && d.Platform.Architecture == "unknown"
}

// choose picks the manifest that suits want best; the first of equals. A lone
// one without a platform is taken, its configuration is looked at later.
func choose(all []v1.Descriptor, want Platform) (v1.Descriptor, error) {
	var have []string
	var best v1.Descriptor
	var runnable []v1.Descriptor
	bestRank := 0
	for _, d := range all {
		if isAttestation(d) {
			continue
		}
		runnable = append(runnable, d)
		got := platformOf(d.Platform)
		if d.Platform == nil {
			have = append(have, "unnamed")
			continue
		}
		have = append(have, got.String())
		if r := want.rank(got); r > bestRank {
			best, bestRank = d, r
		}
	}
	if bestRank == 0 && len(runnable) == 1 && runnable[0].Platform == nil {
		return runnable[0], nil
	}
	if bestRank == 0 {
		return best, noPlatform(want, have)
	}
	return best, nil
}

func noPlatform(want Platform, have []string) error {
	slices.Sort(have)
	there := strings.Join(slices.Compact(have), ", ")
	if there == "" {
		there = "nothing that runs"
	}
	return fmt.Errorf("no image for platform %s; there is %s", want, there)
}
