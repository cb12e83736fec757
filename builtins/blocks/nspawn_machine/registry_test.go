package nspawnmachine_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	nspawnmachine "hostler/builtins/blocks/nspawn_machine"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
)

// wired is a network with this machine's loopback.
type wired struct {
	host.Network
	transport http.RoundTripper
}

func (w wired) Transport() http.RoundTripper { return w.transport }

// servedTLS serves an image of /srv over TLS and returns its reference, its digest
// and the server's certificate.
func servedTLS(t *testing.T, blobs *atomic.Int32) (ref, digest, certificate string) {
	t.Helper()
	oci := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			blobs.Add(1)
		}
		oci.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(images()["/srv/one.tar"].Content))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		image, err = mutate.ConfigFile(image, &v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers", DiffIDs: diffIDs(t, layer)}})
	}
	tag, tagErr := name.NewTag(strings.TrimPrefix(server.URL, "https://") + "/worker:1")
	if err != nil || tagErr != nil {
		t.Fatal(err, tagErr)
	}
	if err := remote.Write(tag, image, remote.WithTransport(server.Client().Transport)); err != nil {
		t.Fatal(err)
	}
	sum, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return tag.String(), sum.String(), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

func diffIDs(t *testing.T, layer v1.Layer) []v1.Hash {
	t.Helper()
	id, err := layer.DiffID()
	if err != nil {
		t.Fatal(err)
	}
	return []v1.Hash{id}
}

// TestRegistryWithACertificateOfItsOwn: ca_certificate, as text or as a file of
// the host, is trusted for the image's server, and what the tag stood for is
// told.
func TestRegistryWithACertificateOfItsOwn(t *testing.T) {
	ref, digest, certificate := servedTLS(t, new(atomic.Int32))
	for name, c := range map[string]struct{ ca, want string }{
		"none":    {"", "certificate"},
		"a file":  {"ca_certificate = \"/etc/ca.pem\"\n", ""},
		"text":    {"ca_certificate = " + quoted(certificate) + "\n", ""},
		"no file": {"ca_certificate = \"/etc/gone.pem\"\n", "/etc/gone.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			h := memoryHost(nil).Host()
			h.Network = wired{h.Network, host.HonourRoots(&http.Transport{})}
			if err := host.Replace(h.Files, "/etc/ca.pem", host.Content{Bytes: []byte(certificate), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
			s := blocktest.NewStage(h)
			args := blocktest.Args(t, nspawnmachine.Type(), "name = \"kube1\"\nrootfs {\n image = \""+ref+"\"\n platform = \"linux/amd64\"\n"+c.ca+"}\n")
			args.Phase = "rootfs"
			step := blocktest.StepOf(t, nspawnmachine.Type(), args)
			err := s.Apply(step)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if err != nil {
				return
			}
			if change := s.MustCheck(t, step); change.Needed() || change.Made != ref+" ("+digest+")" {
				t.Errorf("made %q, %+v", change.Made, change)
			}
		})
	}
}

// TestFetchedAhead: what a tree will be unpacked from is fetched before its
// turn, and not again; nothing is when the tree is there.
func TestFetchedAhead(t *testing.T) {
	var blobs atomic.Int32
	ref, _, certificate := servedTLS(t, &blobs)
	h := memoryHost(nil).Host()
	h.Network = wired{h.Network, host.HonourRoots(&http.Transport{})}
	s := blocktest.NewStage(h)
	step := part(t, "rootfs", "name = \"kube1\"\nrootfs {\n image = \""+ref+"\"\n platform = \"linux/amd64\"\nca_certificate = "+quoted(certificate)+"\n}\n")
	fetch, err := step.(block.Ahead).Ahead(t.Context(), s.Do())
	if err != nil || fetch == nil {
		t.Fatalf("nothing to fetch: %v", err)
	}
	if err := fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := blobs.Load()
	if s.MustApply(t, step); before == 0 || blobs.Load() != before {
		t.Errorf("%d blobs were fetched ahead, %d in all", before, blobs.Load())
	}
	if fetch, err := step.(block.Ahead).Ahead(t.Context(), s.Do()); err != nil || fetch != nil {
		t.Errorf("more to fetch for a tree that is there (%v)", err)
	}
	local := part(t, "rootfs", body("/srv/two.tar", ""))
	if fetch, err := local.(block.Ahead).Ahead(t.Context(), s.Do()); err != nil || fetch != nil {
		t.Errorf("a local image is fetched (%v)", err)
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }
