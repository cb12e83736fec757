package rootfs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"hostler/interpreter/host"
)

// Keys gives the credentials that stand in files of the host in the format of
// docker's config.json and of containers-auth.json(5), where an entry may be
// for a registry or for a part of its repositories; of several files that know
// one the first counts, and files that are not there are passed over. Nothing
// is executed: credential helpers are ignored.
func Keys(f host.FileView, files ...string) authn.Keychain { return keychain{f, files} }

// Credential is the name of the systemd credential that holds registry
// credentials (LoadCredential=, SetCredentialEncrypted= and so on).
const Credential = "registry-auth.json"

// DefaultKeys are the files that are looked at for credentials: the systemd
// credential [Credential] of the unit that the program runs in, a file of its
// own, and root's of podman, skopeo and docker.
func DefaultKeys() []string {
	files := []string{
		"/etc/hostler/registry-auth.json",
		"/run/containers/0/auth.json",
		"/root/.config/containers/auth.json",
		"/root/.docker/config.json",
	}
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); path.IsAbs(dir) {
		files = slices.Insert(files, 0, path.Join(dir, Credential))
	}
	return files
}

type keychain struct {
	files host.FileView
	names []string
}

// Resolve finds the credentials for a registry or one of its repositories.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	for _, file := range k.names {
		all, err := k.read(file)
		if err != nil {
			return nil, err
		}
		for _, key := range entryNames(target) {
			// A login that a helper keeps leaves an entry with nothing in it.
			if c := all[key]; c != (authn.AuthConfig{}) {
				return authn.FromConfig(c), nil
			}
		}
	}
	return authn.Anonymous, nil
}

// entryNames are the names under which credentials for target may stand, the
// most particular first.
func entryNames(target authn.Resource) []string {
	registry, repository := target.RegistryStr(), target.String()
	names := namesAt(registry, repository)
	if registry == name.DefaultRegistry { // docker.io to podman and skopeo
		names = append(names, namesAt(dockerHub, dockerHub+strings.TrimPrefix(repository, registry))...)
	}
	return names
}

// dockerHub is what people call the registry whose server has another name.
const dockerHub = "docker.io"

func namesAt(registry, repository string) (names []string) {
	for at := repository; strings.HasPrefix(at, registry+"/"); at = path.Dir(at) {
		names = append(names, at)
	}
	return append(names, registry, "https://"+registry, "https://"+registry+"/v1/")
}

func (k keychain) read(name string) (map[string]authn.AuthConfig, error) {
	file, err := k.files.Open(name)
	if host.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := readDocument(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var config struct {
		Auths map[string]struct{ Auth, Username, Password, IdentityToken, RegistryToken string }
	}
	if json.Unmarshal(raw, &config) != nil {
		// The parser's own words could quote a secret.
		return nil, fmt.Errorf("%s: it is no docker configuration in JSON", name)
	}
	all := map[string]authn.AuthConfig{}
	for registry, a := range config.Auths {
		c := authn.AuthConfig{Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken}
		if plain, err := base64.StdEncoding.DecodeString(a.Auth); err == nil && len(plain) > 0 {
			c.Username, c.Password, _ = strings.Cut(string(plain), ":")
		}
		all[registry] = c
	}
	return all, nil
}
