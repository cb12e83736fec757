package deliver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Format is one of the texts that a host can be given.
type Format struct {
	Name string
	// Summary is what it is, and Needs what the host needs to understand it.
	Summary, Needs string
	schemes        []string
	encode         func(*Payload) []byte
	point          func(Source) []byte
	// prefix is the default prefix, "" where one must be given.
	prefix string
}

// Formats are all formats.
func Formats() []Format {
	web := []string{"https", "http"}
	return []Format{
		{
			Name: "ignition", Summary: "an Ignition configuration",
			Needs:   "Ignition " + MinimumIgnition + " or newer (specification " + SpecVersion + ")",
			schemes: append(slices.Clone(web), "tftp", "s3", "arn", "gs"), encode: ignition, point: ignitionPointer,
		},
		{
			Name: "cloud-init", Summary: "a cloud-config",
			Needs:   "cloud-init, curl or wget, and sha256sum",
			schemes: web, encode: cloudConfig, point: cloudConfigPointer, prefix: "/usr/local",
		},
		{
			Name: "script", Summary: "a shell script to run on the host",
			Needs:   "a shell, curl or wget, base64, gzip and sha256sum",
			schemes: web, encode: script, point: scriptPointer, prefix: "/usr/local",
		},
	}
}

// Encode is the payload as text. The same payload gives the same text.
func (f Format) Encode(p *Payload) []byte { return f.encode(p) }

// Pointer is a small text that fetches whole from a URL, holds it to its
// digest and goes on with it.
func (f Format) Pointer(url string, whole []byte) ([]byte, error) {
	if err := checkURL(FlagPointer, url, f.schemes); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(whole)
	return f.point(Source{url, hex.EncodeToString(sum[:])}), nil
}

// Platform is a cloud with a limit on user data, in bytes before base64.
type Platform struct {
	Name  string
	Limit int
}

// Platforms are those whose limit is known: the documentation of EC2 user data
// (16 KB) and of Azure custom data (65535 bytes).
func Platforms() []Platform { return []Platform{{"aws", 16 << 10}, {"azure", 65535}} }

// ErrTooLarge says that a text is larger than its platform takes.
var ErrTooLarge = errors.New("larger than the platform takes")

// Fits says which limits a text of so many bytes breaks: an error for the
// platform named, a warning for the others when none is.
func Fits(size int, platform string) (warnings []string, err error) {
	known := platform == ""
	for _, p := range Platforms() {
		known = known || p.Name == platform
		if size <= p.Limit || platform != "" && platform != p.Name {
			continue
		}
		text := fmt.Sprintf("%d bytes are more than the %d of user data on %s", size, p.Limit, p.Name)
		if platform == p.Name {
			return nil, fmt.Errorf("%s: %w; put the whole where the host can fetch it: %s URL --pointer-file FILE", text, ErrTooLarge, FlagPointer)
		}
		warnings = append(warnings, text)
	}
	if !known {
		return nil, &FlagError{FlagPlatform, fmt.Sprintf("%q is not known; known are %s", platform, strings.Join(platformNames(), " and "))}
	}
	return warnings, nil
}

func platformNames() (names []string) {
	for _, p := range Platforms() {
		names = append(names, p.Name)
	}
	return names
}
