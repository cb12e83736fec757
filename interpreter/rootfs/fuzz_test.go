package rootfs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzApply: whatever the layers are, nothing outside of the tree changes and
// both trees agree.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"f a x\n l b -> ../../../canary\n f b/c y",
		"l x -> /etc\n f x/cron.d/pwn p",
		"d a\n f a/.wh..wh..opq\n h b = a/c",
		"f ../../canary x", "f /abs x", "h h = ../canary\n f h x",
		"l a -> .\n f a/a/a/a x\n f .wh.a",
	} {
		f.Add(tarOf(f, seed), tarOf(f, "f .wh.a\n f a/b x\n l a -> b"))
	}
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		outside := t.TempDir()
		canary := filepath.Join(outside, "canary")
		if err := os.WriteFile(canary, []byte("sings"), 0o600); err != nil {
			t.Fatal(err)
		}
		inside := filepath.Join(outside, "deep", "tree")
		if err := os.MkdirAll(inside, 0o700); err != nil {
			t.Fatal(err)
		}
		at, err := newAtTree(inside, false)
		if err != nil {
			t.Fatal(err)
		}
		limits := rules{mapOwners: true, limits: Limits{Bytes: 1 << 20, Entries: 200}}
		door := memoryGround(t)
		first := fuzzLayers(at, limits, lower, upper)
		second := fuzzLayers(door.tree, limits, lower, upper)
		if (first == nil) != (second == nil) {
			t.Errorf("descriptors: %v, door: %v", first, second)
		}
		if err := at.Close(); err != nil {
			t.Error(err)
		}
		checkCanary(t, outside, canary)
		if first == nil && second == nil {
			ours, theirs := strings.Join(listDir(t, inside), "\n"), strings.Join(door.list(), "\n")
			if ours != theirs {
				t.Errorf("descriptors:\n%s\ndoor:\n%s", ours, theirs)
			}
		}
	})
}

func fuzzLayers(to tree, r rules, layers ...[]byte) error {
	a := newApplier(to, r, func(string) {})
	for _, l := range layers {
		if err := a.apply(context.Background(), bytes.NewReader(l), false); err != nil {
			return err
		}
	}
	// Modes that keep the caller out are not what is looked for.
	for _, n := range a.root.kids {
		open(n)
	}
	return a.finish(context.Background())
}

func open(n *node) {
	n.attrs.mode |= 0o700
	for _, kid := range n.kids {
		open(kid)
	}
}

func checkCanary(t *testing.T, outside, canary string) {
	t.Helper()
	b, err := os.ReadFile(canary)
	if err != nil || string(b) != "sings" {
		t.Errorf("canary: %q %v", b, err)
	}
	for dir, want := range map[string]string{outside: "canary deep", filepath.Join(outside, "deep"): "tree"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s holds %q, want %q", dir, got, want)
		}
	}
}
