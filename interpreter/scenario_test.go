package interpreter_test

import (
	"archive/tar"
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// image is a tar with a small root file system, without the directories of the
// real one.
func image(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h *tar.Header, text string) {
		h.Size = int64(len(text))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"etc/", "etc/systemd/", "etc/systemd/system/", "usr/", "usr/bin/", "usr/lib/", "usr/lib/systemd/", "usr/lib/systemd/system/", "run/", "var/", "var/lib/", "tmp/"} {
		add(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, "")
	}
	for _, tool := range []string{"sh", "true", "false", "sleep"} {
		add(&tar.Header{Name: "usr/bin/" + tool, Typeflag: tar.TypeReg, Mode: 0o755}, "#!")
	}
	add(&tar.Header{Name: "etc/os-release", Typeflag: tar.TypeReg, Mode: 0o644}, "ID=one\n")
	add(&tar.Header{Name: "usr/lib/systemd/system/multi-user.target", Typeflag: tar.TypeReg, Mode: 0o644}, "[Unit]\n")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		add(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rich is the host for the recipe testdata/rich.hcl.
func rich(t testing.TB) memory.Options {
	return memory.Options{
		Executables: []string{"apt-get", "mkcache", "machinectl"},
		Files: map[string]memory.File{
			"/etc/motd":        {Content: "welcome\n", Mode: 0o664, GID: 4, Xattrs: map[string]string{"user.a": "b"}},
			"/etc/daemon.json": {Content: "{\n  \"theirs\": 1\n}\n"},
			"/etc/cron.d/old":  {Content: "* * * * * root old\n", Mode: 0o600},
			"/srv/one.tar":     {Content: image(t, nil)},
		},
		Units: []memory.Unit{
			{Name: "ssh.service", Enabled: true, Running: true},
			{Name: "noise.service", Enabled: true, Running: true},
		},
		Programs: map[string]memory.Program{
			"mkcache": func(i memory.Invocation) host.CommandResult {
				err := host.MakeParents(i.Host.Files, "/var/lib/agent/cache", 0o755)
				if err == nil {
					err = host.Replace(i.Host.Files, "/var/lib/agent/cache", host.Content{Bytes: []byte("cache"), Mode: 0o644})
				}
				if err != nil {
					return host.CommandResult{ExitCode: 1, Stderr: []byte(err.Error())}
				}
				return host.CommandResult{}
			},
		},
	}
}

// recipeFile is a recipe of testdata, with parts of its text replaced: old and
// new in turns.
func recipeFile(t testing.TB, name string, replace ...string) files {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(b), replace[i]) {
			t.Fatalf("%s does not hold %q", name, replace[i])
		}
	}
	return files{"recipe.hcl": strings.NewReplacer(replace...).Replace(string(b))}
}
