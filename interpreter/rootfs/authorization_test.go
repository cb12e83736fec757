package rootfs

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestC59Authorization: credentials go to the host they are for and to no
// other, and not over plain http.
func TestC59Authorization(t *testing.T) {
	var leaked string
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked += r.Header.Get("Authorization")
		proxyTo(w, r, "storage")
	}))
	t.Cleanup(storage.Close)
	var layer string
	reg := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		if layer == "" {
			return false
		}
		if user, pass, ok := r.BasicAuth(); !ok || user != "u" || pass != "p" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if strings.HasSuffix(r.URL.Path, layer) {
			// Another name of the machine is another host.
			http.Redirect(w, r, strings.Replace(storage.URL, "127.0.0.1", "localhost", 1)+"/"+layer, http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	img := imageFrom(t, "linux/amd64", "f a")
	push(t, reg+"/x:1", img)
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	inner["storage"] = map[string][]byte{digest.String(): compressed(t, layers[0])}
	layer = digest.String()
	src, _ := netSource(t, reg+"/x:1")
	if _, err := Resolve(context.Background(), src, amd64); err == nil {
		t.Error("without credentials it works")
	}
	file := filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(file, []byte(`{"auths":{"`+reg+`":{"auth":"dTpw"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	src.Keys = Keys(hostFiles(), "/does/not/exist", file)
	image, err := Resolve(context.Background(), src, amd64)
	if err != nil {
		t.Fatal(err)
	}
	if err := Prefetch(context.Background(), image); err != nil {
		t.Fatal(err)
	}
	if leaked != "" {
		t.Errorf("the storage host saw %q", leaked)
	}
}

func proxyTo(w http.ResponseWriter, r *http.Request, which string) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(inner[which][filepath.Base(r.URL.Path)])))
}
