//go:build e2e

package lab

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

func TestRegistryIsReachedFromAHost(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	images := Registry(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			next.ServeHTTP(w, r)
		})
	})
	layer := Layer(t, map[string]string{"/etc/layer": "in a layer\n"})
	ref := images.Push("test/image:1", GuestLayer(t), layer)
	if asked.Load() != 0 {
		t.Error("pushing counted as requests of hosts")
	}
	digest, err := layer.Digest()
	if err != nil {
		t.Fatal(err)
	}
	h := Up(t, Options{})
	base := "http://" + images.Address + "/v2/test/image/"
	manifest := h.MustExec("curl", "-fsS", "-H", "Accept: application/vnd.oci.image.manifest.v1+json", base+"manifests/1")
	if !strings.Contains(manifest, digest.String()) || !strings.Contains(manifest, "vnd.oci.image.layer.v1.tar+gzip") {
		t.Errorf("the manifest has not our layer: %s", manifest)
	}
	if !strings.HasPrefix(ref, images.Address+"/test/image:1@sha256:") {
		t.Errorf("reference %q", ref)
	}
	got := h.MustExec("sh", "-c", "curl -fsS "+base+"blobs/"+digest.String()+" | tar -xzO etc/layer")
	if got != "in a layer" {
		t.Errorf("the layer holds %q", got)
	}
	if asked.Load() != 2 {
		t.Errorf("%d requests were counted", asked.Load())
	}
}

func TestServeIsReachedFromAHost(t *testing.T) {
	t.Parallel()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("hello from " + r.Host)) })
	plain := Serve(t, hello)
	secure, authority := ServeTLS(t, hello)
	h := Up(t, Options{Store: Overlay, Files: map[string]string{"/etc/authority.pem": string(authority)}})
	if got := h.MustExec("curl", "-fsS", plain); "http://"+strings.TrimPrefix(got, "hello from ") != plain {
		t.Errorf("got %q", got)
	}
	if got := h.MustExec("curl", "-fsS", "--cacert", "/etc/authority.pem", secure); !strings.HasPrefix(got, "hello from") {
		t.Errorf("got %q", got)
	}
	if got := h.Exec("curl", "-fsS", secure); got.Code != 60 {
		t.Errorf("the certificate was trusted by itself: %s", got)
	}
}
