//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hostler/testdata/lab"
)

// smallMachine is the path, on this machine, of an OCI layout whose image is a
// machine with little more than systemd and D-Bus: it boots in a tenth of the time of the
// lab's guest.
func smallMachine(t *testing.T) string {
	t.Helper()
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), smallLayer(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	index, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = index.AppendImage(image)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// smallParts matches what of the guest is in the small machine.
var smallParts = regexp.MustCompile(`^(` + strings.Join([]string{
	`bin|sbin|lib|lib64|etc|usr|proc|sys|dev|run|tmp|var|root|usr/(lib|lib64|bin|sbin|share)|usr/lib64/.*`,
	`etc/(os-release|passwd|group|nsswitch.conf|dbus-1|dbus-1/.*)|usr/lib/os-release|usr/bin/(dbus-daemon|systemctl|mount|umount)|usr/share/dbus-1(/.*)?`,
	`usr/lib/systemd|usr/lib/systemd/(systemd|systemd-shutdown|system)`,
	`usr/lib/systemd/system/([a-z-]+\.(target|slice)|systemd-(halt|poweroff|reboot)\.service|dbus\.(service|socket)|(sockets|multi-user)\.target\.wants|.*wants/dbus.*)`,
	`usr/lib/[a-z0-9_-]+-linux-gnu[a-z]*(/systemd(/.*)?|/ld-linux.*|/lib(` + smallLibraries + `)[-.][^/]*)?`,
}, "|") + `)$`)

// smallLibraries are what systemd and dbus-daemon are linked with.
const smallLibraries = `acl|apparmor|audit|blkid|c|cap|cap-ng|crypt|crypto|dbus|expat|gcrypt|gpg-error|ip4tc|kmod|lz4|lzma|m|mount|` +
	`nss_files|pam|pcre2|seccomp|selinux|systemd|zstd`

// smallLayer is the part of the guest that the small machine needs.
func smallLayer(t *testing.T) v1.Layer {
	t.Helper()
	whole, err := lab.GuestLayer(t).Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	var packed bytes.Buffer
	if err := filterTar(&packed, whole, smallParts); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

// filterTar copies the entries whose names match.
func filterTar(to io.Writer, from io.Reader, names *regexp.Regexp) error {
	in, out := tar.NewReader(from), tar.NewWriter(to)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		if !names.MatchString(cleanName(h.Name)) {
			continue
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
}

func cleanName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
}
