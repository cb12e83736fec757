package rootfs

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"hostler/interpreter/host"
)

func TestKeys(t *testing.T) {
	h, _ := realHost(t)
	files := map[string]string{
		"/bad":  `{"auths": "secret"`,
		"/keys": `{"auths":{"a.example":{"username":"u","password":"p"},"https://b.example/v1/":{"identitytoken":"t"}}}`,
	}
	for n, text := range files {
		if err := host.Replace(h.Files, n, host.Content{Bytes: []byte(text), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	for registry, want := range map[string]authn.AuthConfig{
		"a.example": {Username: "u", Password: "p"}, "b.example": {IdentityToken: "t"}, "c.example": {},
	} {
		reg, err := name.NewRegistry(registry)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := Keys(h.Files, "/keys").Resolve(reg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := authn.Authorization(context.Background(), auth)
		if err != nil || *got != want {
			t.Errorf("%s: %+v %v", registry, got, err)
		}
	}
	reg, err := name.NewRegistry("a.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Keys(h.Files, "/bad").Resolve(reg); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("damaged file: %v", err)
	}
	if len(DefaultKeys()) == 0 {
		t.Error("no default")
	}
}
