package scene

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"hostler/interpreter/host/memory"
)

// The media types of the OCI image specification.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar"
)

// packed is an image as registries and layouts hold it.
type packed struct {
	blobs map[string][]byte // by digest
	top   descriptor        // of the manifest
}

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func (p *packed) add(mediaType string, data []byte) descriptor {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	p.blobs[digest] = data
	return descriptor{MediaType: mediaType, Digest: digest, Size: len(data)}
}

// encode is JSON of what always has one.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func pack(layer []byte, system, arch string) *packed {
	p := &packed{blobs: map[string][]byte{}}
	l := p.add(typeLayer, layer)
	config := p.add(typeConfig, encode(map[string]any{
		"architecture": arch, "os": system, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{l.Digest}}, "config": map[string]any{},
	}))
	p.top = p.add(typeManifest, encode(map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []descriptor{l}}))
	p.top.Platform = map[string]string{"os": system, "architecture": arch}
	return p
}

// layout writes an OCI layout to the disk; a tag after the path is the image's
// name there.
func (b *builder) layout(ref string, p *packed) error {
	dir, tag, tagged := strings.Cut(ref, ":")
	if !path.IsAbs(dir) {
		return fmt.Errorf("image oci-layout:%s: the path is absolute", ref)
	}
	if tagged {
		p.top.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	}
	index := encode(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []descriptor{p.top}})
	b.opts.Files[path.Join(dir, "oci-layout")] = memory.File{Content: `{"imageLayoutVersion":"1.0.0"}`}
	b.opts.Files[path.Join(dir, "index.json")] = memory.File{Content: string(index)}
	for digest, data := range p.blobs {
		b.opts.Files[path.Join(dir, "blobs", strings.Replace(digest, ":", "/", 1))] = memory.File{Content: string(data)}
	}
	return nil
}

// registry serves the image.
func (b *builder) registry(reference string, p *packed) error {
	ref, err := name.ParseReference(reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("image %q is no reference: %w", reference, err)
	}
	at := b.site(ref.Context().RegistryStr())
	at["/v2/"] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			http.NotFound(w, r)
		}
	}
	top := "/v2/" + ref.Context().RepositoryStr()
	for digest, data := range p.blobs {
		at[top+"/blobs/"+digest] = blob("application/octet-stream", digest, data)
	}
	serve := blob(typeManifest, p.top.Digest, p.blobs[p.top.Digest])
	at[top+"/manifests/"+p.top.Digest] = serve
	at[top+"/manifests/"+ref.Identifier()] = serve
	return nil
}

func blob(mediaType, digest string, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(data) // the host in memory takes everything
		}
	}
}
