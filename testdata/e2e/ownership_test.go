//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hostler/testdata/lab"
)

// owned is where the hosts of these tests have the recipe.
const owned = "/srv/owned"

// recordFile is the ownership record.
const recordFile = "/var/lib/hostler/record.json"

// ownedHost is a host with the recipe "owned" in it, not applied.
func ownedHost(t *testing.T, options lab.Options) *lab.Host {
	t.Helper()
	t.Parallel()
	h := up(t, options)
	h.PushTree(owned, "recipes/owned")
	return h
}

// installed is one with the recipe applied.
func installed(t *testing.T, options lab.Options) *lab.Host {
	t.Helper()
	h := ownedHost(t, options)
	expect(t, h, 0, "apply", owned)
	return h
}

// expect runs hostler, which must end with a code, and returns all it said.
func expect(t *testing.T, h *lab.Host, code int, args ...string) string {
	t.Helper()
	res := h.Exec(append([]string{program}, args...)...)
	if res.Code != code {
		t.Fatalf("hostler %q: want code %d: %s", args, code, res)
	}
	return res.Stdout + res.Stderr
}

// says fails the test unless a text has all of the parts.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// phaseOf is the phase that status shows.
func phaseOf(t *testing.T, h *lab.Host) string {
	t.Helper()
	var status struct{ Phase string }
	text := h.MustExec(program, "status", "--output", "json")
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return status.Phase
}

// stamps are inode, change time and modification time of all below directories:
// whatever is written, even with the same bytes, shows in them.
func stamps(t *testing.T, h *lab.Host, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(h.Root(), dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st syscall.Stat_t
			if err := syscall.Lstat(name, &st); err != nil {
				return err
			}
			all[name] = fmt.Sprintf("inode %d changed %d.%09d modified %d.%09d", st.Ino, st.Ctim.Sec, st.Ctim.Nsec, st.Mtim.Sec, st.Mtim.Nsec)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// untouched fails the test if something was written since.
func untouched(t *testing.T, h *lab.Host, before map[string]string, dirs ...string) {
	t.Helper()
	now := stamps(t, h, dirs...)
	for name, stamp := range before {
		if now[name] != stamp {
			t.Errorf("%s was written: %s, was %s", name, now[name], stamp)
		}
	}
	for name := range now {
		if before[name] == "" {
			t.Errorf("%s was made", name)
		}
	}
}

// hostDirs are the directories in which nothing may be written when a command
// is refused or has nothing to do.
func hostDirs() []string { return []string{"/etc", "/opt", "/usr/local", "/var/lib/hostler"} }

// there says whether something is at a path of a host.
func there(h *lab.Host, name string) bool {
	_, err := os.Lstat(filepath.Join(h.Root(), name))
	return err == nil
}

// TestH11IdentityChange: another version, image, server, name or prefix is
// refused, by apply and by ensure, and nothing is changed.
func TestH11IdentityChange(t *testing.T) {
	h := installed(t, lab.Options{})
	before := stamps(t, h, hostDirs()...)
	for _, change := range [][]string{
		{"--var", "release=v1.35.0"},
		{"--var", "image=https://images.example.com/other.tar.gz?signature=one"},
		{"--var", "image=http://images.example.com/rootfs.tar.gz?signature=one"},
		{"--var", "server=https://other.example.com:6443"},
		{"--var", "name=other"},
		{"--prefix", "/opt/other"},
	} {
		for _, verb := range []string{"apply", "ensure"} {
			says(t, expect(t, h, 73, append([]string{verb, owned}, change...)...), "nothing was changed", "run hostler reset first")
		}
	}
	untouched(t, h, before, hostDirs()...)
	if phase := phaseOf(t, h); phase != "complete" {
		t.Errorf("phase %s", phase)
	}
}

// TestH12SignedQuery: the same archive with a new signature, the version
// without its v and another label are no other identity.
func TestH12SignedQuery(t *testing.T) {
	h := installed(t, lab.Options{})
	expect(t, h, 0, "apply", owned, "--var", "image=https://images.example.com/rootfs.tar.gz/?signature=two")
	expect(t, h, 0, "ensure", owned, "--var", "image=https://images.example.com/rootfs.tar.gz?signature=three")
	expect(t, h, 0, "apply", owned, "--var", "release=1.34.4")
	expect(t, h, 0, "apply", owned, "--var", "label=b=2")
	says(t, string(h.Pull("/etc/owned/config")), "label = b=2")
}

// TestH13DefaultPrefix: the default prefix spelled out is the default.
func TestH13DefaultPrefix(t *testing.T) {
	h := installed(t, lab.Options{})
	before := stamps(t, h, hostDirs()...)
	expect(t, h, 0, "apply", owned, "--prefix", "/usr/local")
	expect(t, h, 0, "ensure", owned, "--prefix", "/usr/local")
	untouched(t, h, before, hostDirs()...)
	if strings.Contains(string(h.Pull(recordFile)), "prefix") {
		t.Error("the default prefix stands in the record")
	}
}
