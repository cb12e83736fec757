package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// writeLayout writes the OCI layout of an image.
func writeLayout(cache string, img *image, arch string) error {
	img.layout = filepath.Join(cache, strings.NewReplacer(",", "", " ", "-").Replace(img.name))
	blobs := filepath.Join(img.layout, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return err
	}
	var layers []object
	var ids []string
	for i, file := range img.layers {
		packed, err := digest(file)
		if err != nil {
			return err
		}
		plain, err := digest(img.tars[i])
		if err != nil {
			return err
		}
		blob := filepath.Join(blobs, packed)
		if err := os.Link(file, blob); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		img.blobs = append(img.blobs, blob)
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		kind := map[string]string{".gz": "gzip", ".zst": "zstd"}[filepath.Ext(file)]
		layers = append(layers, object{"mediaType": "application/vnd.oci.image.layer.v1.tar+" + kind, "digest": "sha256:" + packed, "size": info.Size()})
		ids = append(ids, "sha256:"+plain)
	}
	return writeDocuments(img.layout, layers, ids, arch)
}

func writeDocuments(dir string, layers []object, ids []string, arch string) error {
	config, err := addBlob(dir, "application/vnd.oci.image.config.v1+json", object{
		"os": "linux", "architecture": arch, "config": object{}, "rootfs": object{"type": "layers", "diff_ids": ids}})
	if err != nil {
		return err
	}
	manifest, err := addBlob(dir, "application/vnd.oci.image.manifest.v1+json", object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": layers})
	if err != nil {
		return err
	}
	manifest["annotations"] = object{"org.opencontainers.image.ref.name": "bench"}
	index, err := json.Marshal(object{"schemaVersion": 2, "manifests": []any{manifest}})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644),
		os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644))
}

// addBlob stores a document and returns its descriptor.
func addBlob(dir, mediaType string, doc object) (object, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	name := hex.EncodeToString(sum[:])
	err = os.WriteFile(filepath.Join(dir, "blobs", "sha256", name), b, 0o644)
	return object{"mediaType": mediaType, "digest": "sha256:" + name, "size": len(b)}, err
}

func digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
