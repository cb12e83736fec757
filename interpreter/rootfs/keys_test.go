package rootfs

import (
	"context"
	"path"
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

// TestKeysOfDockerHub: who logged in with podman or skopeo has an entry for
// docker.io, with docker one for its server; and a login that a helper keeps
// hides none in another file.
func TestKeysOfDockerHub(t *testing.T) {
	h, _ := realHost(t)
	for file, text := range map[string]string{
		"/podman": `{"auths":{"docker.io":{"username":"podman","password":"p"},"docker.io/team":{"username":"team","password":"p"}}}`,
		"/docker": `{"auths":{"https://index.docker.io/v1/":{"username":"docker","password":"p"}}}`,
		"/helper": `{"auths":{"https://index.docker.io/v1/":{},"a.example":{}},"credsStore":"secretservice"}`,
		"/keys":   `{"auths":{"a.example":{"username":"a","password":"p"}}}`,
	} {
		if err := host.Replace(h.Files, file, host.Content{Bytes: []byte(text), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files      []string
		repo, want string
	}{
		{[]string{"/podman"}, "docker.io/library/debian", "podman"},
		{[]string{"/podman"}, "docker.io/team/x", "team"},
		{[]string{"/docker"}, "docker.io/team/x", "docker"},
		{[]string{"/helper", "/podman"}, "docker.io/library/debian", "podman"},
		{[]string{"/helper", "/keys"}, "a.example/x", "a"},
		{[]string{"/helper"}, "a.example/x", ""},
		{[]string{"/podman"}, "a.example/x", ""},
	} {
		r, err := name.NewRepository(c.repo)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := Keys(h.Files, c.files...).Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := authn.Authorization(context.Background(), auth)
		if err != nil || got.Username != c.want {
			t.Errorf("%v for %s: %q %v, want %q", c.files, c.repo, got.Username, err, c.want)
		}
	}
}

// TestKeysOfParts: the most particular entry counts, as in
// containers-auth.json(5).
func TestKeysOfParts(t *testing.T) {
	h, _ := realHost(t)
	text := `{"auths":{"a.example":{"username":"all","password":"p"},"a.example/team":{"username":"team","password":"p"},
		"a.example/team/x":{"username":"x","password":"p"},"https://b.example":{"username":"b","password":"p"}}}`
	if err := host.Replace(h.Files, "/keys", host.Content{Bytes: []byte(text), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]string{"a.example/team/x": "x", "a.example/team/y/z": "team", "a.example/other": "all", "a.example/teams": "all", "b.example/x": "b"} {
		r, err := name.NewRepository(repo)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := Keys(h.Files, "/keys").Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := authn.Authorization(context.Background(), auth); err != nil || got.Username != want {
			t.Errorf("%s: %+v %v", repo, got, err)
		}
	}
}

// TestCredential: the systemd credential of the unit is looked at first.
func TestCredential(t *testing.T) {
	t.Setenv("CREDENTIALS_DIRECTORY", "/run/credentials/hostler.service")
	with := DefaultKeys()
	if with[0] != "/run/credentials/hostler.service/registry-auth.json" {
		t.Errorf("files %v", with)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	if without := DefaultKeys(); len(without) != len(with)-1 || without[0] != "/etc/hostler/registry-auth.json" {
		t.Errorf("files %v", without)
	}
	h, _ := realHost(t)
	if err := ensureDir(h.Files, "/run/credentials/hostler.service", 0o700); err != nil {
		t.Fatal(err)
	}
	for file, user := range map[string]string{with[0]: "unit", with[1]: "file"} {
		if err := ensureDir(h.Files, path.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"auths":{"a.example":{"username":"` + user + `","password":"p"}}}`
		if err := host.Replace(h.Files, file, host.Content{Bytes: []byte(text), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	reg, err := name.NewRegistry("a.example")
	if err != nil {
		t.Fatal(err)
	}
	auth, err := Keys(h.Files, with...).Resolve(reg)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := authn.Authorization(context.Background(), auth); err != nil || got.Username != "unit" {
		t.Errorf("%+v %v", got, err)
	}
}
