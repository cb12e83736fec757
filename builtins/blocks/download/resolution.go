package download

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/rootfs"
	"hostler/interpreter/thing"
)

// resolution is what a download turned out to be. It is kept beside the blobs,
// so that a later check needs no network; losing it costs a download.
type resolution struct {
	// Source is a digest of the URL without its query.
	Source string `json:"source"`
	// Blob is the digest of what was downloaded, Files those of the files that
	// came of it.
	Blob  string            `json:"blob"`
	Files map[string]string `json:"files"`
}

// recall is the resolution as far as the recipe or an earlier run tells; solved
// says that it holds all files.
func (s *step) recall(in block.Look) (r resolution, solved bool, err error) {
	r.Files = map[string]string{}
	if s.args.SHA256 != nil {
		r.Blob = "sha256:" + *s.args.SHA256
		if s.args.Path != nil {
			r.Files[*s.args.Path] = r.Blob
			return r, true, nil
		}
	}
	if in.Cache == "" {
		return r, false, nil
	}
	raw, err := thing.ReadAll(in.Outer.Files, s.sidecar(in.Cache))
	if host.Absent(err) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	var kept resolution
	if json.Unmarshal(raw, &kept) != nil || !s.fits(kept) {
		return r, false, nil
	}
	return kept, true, nil
}

// fits says whether a kept resolution is one of this download. A URL that is
// not there now cannot be compared; it is taken for the same.
func (s *step) fits(r resolution) bool {
	for _, file := range s.paths {
		if r.Files[file] == "" {
			return false
		}
	}
	return r.Blob != "" && (s.args.SHA256 != nil || s.args.URL == nil || r.Source == s.source())
}

func (s *step) source() string { return thing.Digest([]byte(rootfs.RedactURL(*s.args.URL))) }

// sidecar is where the resolution is kept: by everything that makes the
// download what it is, but for its URL.
func (s *step) sidecar(cache string) string {
	sum := ""
	if s.args.SHA256URL != nil {
		sum = rootfs.RedactURL(*s.args.SHA256URL)
	}
	// Strings and maps of them always are JSON, in one order.
	id, _ := json.Marshal([]any{s.files, s.args.SHA256, sum, s.args.Mutable})
	return path.Join(cache, "resolved", strings.TrimPrefix(thing.Digest(id), "sha256:")+".json")
}

// remember keeps the resolution, where it does not stand in the recipe.
func (s *step) remember(do block.Do, r resolution) error {
	if do.Cache == "" || s.args.SHA256 != nil && s.args.Path != nil {
		return nil
	}
	if s.args.URL != nil {
		r.Source = s.source()
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := s.sidecar(do.Cache)
	if err := host.MakeParents(do.OuterHost.Files, name, 0o700); err != nil {
		return err
	}
	return host.Replace(do.OuterHost.Files, name, host.Content{Bytes: raw, Mode: 0o600})
}

// parseSum finds the digest in a text of checksums: in the line of the file's
// name where there are several, else at the start.
func parseSum(text []byte, file string) (string, error) {
	var lines [][]string
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	for _, fields := range lines {
		named := len(fields) > 1 && path.Base(strings.TrimPrefix(fields[len(fields)-1], "*")) == file
		if len(lines) > 1 && !named {
			continue
		}
		if sum := strings.ToLower(fields[0]); hexDigest.MatchString(sum) {
			return "sha256:" + sum, nil
		}
		return "", fmt.Errorf("what is at sha256_url does not start with a SHA-256 digest of 64 hexadecimal digits")
	}
	return "", fmt.Errorf("what is at sha256_url has no digest for %s", file)
}
