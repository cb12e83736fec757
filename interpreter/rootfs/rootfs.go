// Package rootfs turns an image into a directory.
//
// An image is a registry reference, an OCI layout (a directory or a tar of
// one), a docker archive or a plain tar of a root file system. [Resolve] finds
// out what it is made of: afterwards its digest is known and nothing has been
// written. [Unpack] applies its layers, oldest first, in a directory beside the
// final one, makes that durable, puts it in place and leaves a completion mark
// where nothing inside the image can reach it. A tree without a mark is never
// taken for done.
//
// The applier decides everything from a mirror of the tree that it keeps in
// memory: it starts in an empty directory that nobody else writes to, so it
// always knows what is there. What it decides is carried out by one of two
// trees: one on directory descriptors, which cannot be led out of the
// directory by any link, and one over the file door for hosts that are not a
// real directory. Both give the same result.
//
// # Rules
//
//   - A name that holds "..", a NUL or a component over 255 bytes is refused; a
//     leading "/" is dropped, as tar does.
//   - Parents of an entry are resolved as if the tree's top were "/": a link on
//     the way is followed and never leads out. The entry itself replaces
//     whatever has its name, links are never written through. A parent that is
//     missing is made (0755, root, time 0), one that is no directory gives way.
//   - Directories merge. Of two entries with one name the last wins.
//   - The top of the tree has the mode and owner of the entry "./" if there is
//     one, else 0755 and root.
//   - Link targets are stored as they are.
//   - Whiteouts and opaque markers hide what lower layers brought, wherever in
//     the layer they stand. A plain tar has none: there such names are files.
//   - A plain tar for which nobody gives a digest must have the mark of its end.
//   - security.selinux labels are left out: they belong to the host's policy.
package rootfs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"hostler/interpreter/host"
)

// Source says where an image comes from and with what it may be fetched.
type Source struct {
	// Image is a registry reference (registry/repository:tag or @digest),
	// oci-layout:PATH[:tag], the absolute path of a tar, or an https address of
	// one. A tar holds an OCI layout, a docker archive or a root file system.
	Image string
	// SHA256 is the digest of a tar's bytes in hexadecimal; required for https.
	SHA256 string
	// Files is where local images lie.
	Files host.FileView
	// Store keeps what is downloaded; nil refuses images that are not local.
	Store *Store
	// Transport carries requests, Keys gives credentials for registries (nil:
	// none) and Clock waits between tries. Only images that are not local
	// need them.
	Transport http.RoundTripper
	Keys      authn.Keychain
	Clock     host.Clock
	// CA are certificates to trust beside the host's own, as PEM text or as
	// the absolute path of a file among Files; "" is [DefaultCA] if that is
	// there. Transport must heed [host.WithRoots].
	CA string
	// Progress, if set, is called as downloads go on.
	Progress func(Progress)
	// Again, if set, is told before a failed try is made again.
	Again Again

	roots *x509.CertPool // nil for the host's own
}

// Progress is how far a download or an unpacking is.
type Progress struct {
	What  string // "download" or "unpack"
	Name  string // of the image, for people
	Done  int64  // bytes, as stored
	Total int64  // bytes, 0 if unknown
}

// refKind is the kind of an image reference.
type refKind int

const (
	refRegistry refKind = iota
	refLayout
	refFile
	refHTTPS
)

// reference is a parsed image reference.
type reference struct {
	kind refKind
	path string // of local ones
	tag  string // of layouts
}

const layoutPrefix = "oci-layout:"

// CheckReference says whether image is a reference this package takes, and
// whether sha256 goes with it. Nothing is looked at.
func CheckReference(image, sha256 string) error {
	ref, err := parseReference(image)
	if err != nil {
		return err
	}
	if sha256 != "" && !isHex(sha256) {
		return fmt.Errorf("sha256 must be 64 hexadecimal digits in lower case")
	}
	switch {
	case ref.kind == refHTTPS && sha256 == "":
		return fmt.Errorf("an https archive needs sha256, the digest of its bytes")
	case sha256 != "" && (ref.kind == refRegistry || ref.kind == refLayout):
		return fmt.Errorf("sha256 is for archives; pin a registry image with NAME@sha256:DIGEST")
	}
	return nil
}

func parseReference(image string) (reference, error) {
	switch {
	case strings.HasPrefix(image, layoutPrefix):
		return parseLayout(strings.TrimPrefix(image, layoutPrefix))
	case strings.HasPrefix(image, "/"):
		if path.Clean(image) != image {
			return reference{}, fmt.Errorf("image path %q is not clean; write %q", image, path.Clean(image))
		}
		return reference{kind: refFile, path: image}, nil
	case strings.HasPrefix(image, "https://"):
		return reference{kind: refHTTPS}, nil
	case strings.HasPrefix(image, "http://"):
		return reference{}, errors.New("an archive over plain http is refused; serve it over https")
	}
	if _, err := name.ParseReference(image, name.StrictValidation); err != nil {
		return reference{}, fmt.Errorf("image %q is none of REGISTRY/NAME:TAG, REGISTRY/NAME@sha256:DIGEST, "+
			"oci-layout:PATH[:TAG], https://… or the absolute path of a tar", image)
	}
	return reference{kind: refRegistry}, nil
}

func parseLayout(rest string) (reference, error) {
	ref := reference{kind: refLayout, path: rest}
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, '/') {
		ref.path, ref.tag = rest[:i], rest[i+1:]
		if ref.tag == "" {
			return reference{}, fmt.Errorf("image %q ends in an empty tag", layoutPrefix+rest)
		}
	}
	if !strings.HasPrefix(ref.path, "/") || path.Clean(ref.path) != ref.path {
		return reference{}, fmt.Errorf("image %q needs an absolute, clean path: oci-layout:/PATH[:TAG]", layoutPrefix+rest)
	}
	return ref, nil
}

func isHex(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Redact returns the image's reference as it may be shown: an address without
// user, query and fragment, anything else as it is.
func Redact(image string) string {
	rest, ok := strings.CutPrefix(image, "https://")
	if !ok {
		return image
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	authority, file, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if !slash {
		return "https://" + authority
	}
	return "https://" + authority + "/" + file
}

// Identity is what makes two sources the same image without looking at them:
// the digest for pinned ones (archives with sha256, NAME@sha256:…), else the
// reference as it may be shown.
func Identity(image, sha256 string) string {
	if sha256 != "" {
		return "sha256:" + sha256
	}
	if i := strings.LastIndex(image, "@sha256:"); i >= 0 && isHex(image[i+len("@sha256:"):]) {
		return image[i+1:]
	}
	return Redact(image)
}

// Unresolved is an Image of which nothing but the source is known, for
// [Unpack] on a shadow.
func Unresolved(image, sha256 string, p Platform) Image {
	return Image{Ref: Redact(image), Identity: Identity(image, sha256), Digest: "unresolved", Platform: p}
}

// IsLocal says whether the image can be resolved without a network.
func IsLocal(image string) bool {
	ref, err := parseReference(image)
	return err == nil && (ref.kind == refLayout || ref.kind == refFile)
}
