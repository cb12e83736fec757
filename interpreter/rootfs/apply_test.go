package rootfs

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// applyAll applies layers to a tree as the whole pipeline would.
func applyAll(t testing.TB, g ground, r rules, layers ...[]byte) (*Result, error) {
	t.Helper()
	result := &Result{}
	a := newApplier(g.tree, r, result.warn)
	for _, l := range layers {
		if err := a.apply(context.Background(), bytes.NewReader(l), false); err != nil {
			return result, err
		}
	}
	err := a.finish(context.Background())
	result.Mapped, result.Entries, result.Bytes = a.mapped, a.entries, a.bytes
	return result, err
}

// brief keeps kind, name, content and hard links of a listing.
func brief(lines []string) []string {
	re := regexp.MustCompile(`^(\S+) (\S+) \d+ \d+:\d+ -?\d+`)
	var out []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "d . ") {
			out = append(out, re.ReplaceAllString(l, "$1 $2"))
		}
	}
	return out
}

func tidy(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// layerCase is two layers and what comes of them.
type layerCase struct{ name, lower, upper, want string }

func layerCases() []layerCase {
	return []layerCase{
		{"C45 opaque marker in the middle", "d a\n d a/b\n f a/b/foo x", "f a/new n\n f a/.wh..wh..opq\n l a/lnk -> new",
			"d a\n l a/lnk \"new\"\n f a/new \"n\""},
		{"C45 opaque marker first", "d a\n d a/b\n f a/b/foo x", "f a/.wh..wh..opq\n f a/new n\n l a/lnk -> new",
			"d a\n l a/lnk \"new\"\n f a/new \"n\""},
		{"C45 opaque marker last, into a directory both have", "d a\n d a/b\n f a/b/low x\n f a/b/c/low x",
			"d a\n d a/b\n f a/b/c/up u\n f a/.wh..wh..opq", "d a\n d a/b\n d a/b/c\n f a/b/c/up \"u\""},
		{"opaque marker at the top", "f x\n d y\n f y/z", "f .wh..wh..opq\n f n", "f n"},
		{"opaque marker on a link empties nothing", "d real\n f real/x\n l a -> real", "f a/.wh..wh..opq", "l a \"real\"\n d real\n f real/x"},
		{"C47 link becomes file", "f usr/bin/busybox b\n l usr/bin/env -> busybox", "f usr/bin/env e",
			"d usr\n d usr/bin\n f usr/bin/busybox \"b\"\n f usr/bin/env \"e\""},
		{"C47 file becomes directory without an entry", "d opt\n f opt/x f", "f opt/x/y y", "d opt\n d opt/x\n f opt/x/y \"y\""},
		{"C47 whiteout of a link", "d usr\n f usr/x\n l lnk -> usr", "f .wh.lnk", "d usr\n f usr/x"},
		{"C49 links that climb above the root", "l nix/store/.links/abc -> ../../../../nix/store/xyz/f\n l bin/sh -> /usr/bin/sh",
			"f nix/store/xyz/f x\n f nix/store/.links/abc/y y",
			"d bin\n l bin/sh \"/usr/bin/sh\"\n d nix\n d nix/store\n d nix/store/.links\n l nix/store/.links/abc \"../../../../nix/store/xyz/f\"\n" +
				"d nix/store/xyz\n d nix/store/xyz/f\n f nix/store/xyz/f/y \"y\""},
		{"C50 file below a link to /etc lands inside", "l x -> /etc", "f x/cron.d/pwn p",
			"d etc\n d etc/cron.d\n f etc/cron.d/pwn \"p\"\n l x \"/etc\""},
		{"C50 directory replaced by a link between two files", "d a\n f a/one 1", "l a -> ../../etc\n f a/two 2",
			"l a \"../../etc\"\n d etc\n f etc/two \"2\""},
		{"C50 absolute names land inside", "f /abs a", "f //abs2 b", "f abs \"a\"\n f abs2 \"b\""},
		{"entry below a directory that is a link", "d run\n l var/run -> /run", "f var/run/lock/x x",
			"d run\n d run/lock\n f run/lock/x \"x\"\n d var\n l var/run \"/run\""},
		{"whiteout below a directory that is a link", "d run\n f run/x\n f run/y\n l var/run -> ../run", "f var/run/.wh.x",
			"d run\n f run/y\n d var\n l var/run \"../run\""},
		{"directory entry replaces a link to a directory", "d real\n f real/x x\n l a -> real", "d a\n f a/y y",
			"d a\n f a/y \"y\"\n d real\n f real/x \"x\""},
		{"directories merge", "mode=0700 d a\n f a/x x", "mode=0711 d a\n f a/y y", "d a\n f a/x \"x\"\n f a/y \"y\""},
		{"hard link within a layer", "f a x\n h b = a\n h c = ./b", "", "f a \"x\"\n f b = a \"x\"\n f c = a \"x\""},
		{"hard link across layers keeps its bytes", "f a x\n h b = a", "f a new", "f a \"new\"\n f b \"x\""},
		{"hard link to a lower file", "f a x", "h b = /a", "f a \"x\"\n f b = a \"x\""},
		{"hard link to a lower file that the same layer hides", "f a x", "h b = a\n f .wh.a", "f b \"x\""},
		{"hard link to a link", "l a -> /nowhere", "h b = a", "l a \"/nowhere\"\n l b = a \"/nowhere\""},
		{"hard link over another entry", "f a x\n d b\n f b/c c", "h b = a", "f a \"x\"\n f b = a \"x\""},
		{"hard link to itself", "f a x", "h a = a", "f a \"x\""},
		{"hard link through a link", "d d\n f d/a x\n l e -> d", "h b = e/a", "f b \"x\"\n d d\n f d/a = b \"x\"\n l e \"d\""},
		{"whiteout and again in one layer", "d d\n f d/old o", "f .wh.d\n f d/new n", "d d\n f d/new \"n\""},
		{"again and whiteout in one layer", "d d\n f d/old o", "f d/new n\n f .wh.d", "d d\n f d/new \"n\""},
		{"whiteout of what is not there", "f a x", "f .wh.b\n f no/.wh.c", "f a \"x\""},
		{"metadata of a union file system", "f a x", "d .wh..wh.plnk\n f .wh..wh.plnk/1.2\n f .wh..wh.aufs", "f a \"x\""},
		{"last of duplicates wins", "f a 1\n f a 2\n d b\n f b/x x\n f b 3", "", "f a \"2\"\n f b \"3\""},
		{"names with dots and slashes", "f ./a//b/./c x", "", "d a\n d a/b\n f a/b/c \"x\""},
		{"dangling link as a parent", "l run -> /var/run", "f run/x x", "l run \"/var/run\"\n d var\n d var/run\n f var/run/x \"x\""},
		{"FIFO", "p f", "", "p f"},
	}
}

func TestC45OpaqueMarkers(t *testing.T) { runLayers(t, "C45 ") }
func TestC47Replacement(t *testing.T)   { runLayers(t, "C47 ") }
func TestC49ClimbingLinks(t *testing.T) { runLayers(t, "C49 ") }
func TestC50PlantedLinks(t *testing.T)  { runLayers(t, "C50 ") }
func TestLayers(t *testing.T)           { runLayers(t, "") }

// runLayers holds both trees to the same result and that to what is wanted, in
// all cases whose name begins so; those of the field have tests of their own.
func runLayers(t *testing.T, prefix string) {
	for _, c := range layerCases() {
		if !strings.HasPrefix(c.name, prefix) || prefix == "" && strings.HasPrefix(c.name, "C") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var full [][]string
			for _, g := range grounds(t) {
				if _, err := applyAll(t, g, rules{privileged: true}, tarOf(t, c.lower), tarOf(t, c.upper)); err != nil {
					t.Fatalf("%s: %v", g.name, err)
				}
				full = append(full, g.list())
				g.done()
			}
			if d := cmp.Diff(tidy(c.want), brief(full[0])); d != "" {
				t.Errorf("wanted (-), got (+):\n%s", d)
			}
			for _, other := range full[1:] {
				if d := cmp.Diff(full[0], other); d != "" {
					t.Errorf("descriptors (-) and a door (+) differ:\n%s", d)
				}
			}
		})
	}
}

// TestRefused: what is refused names the entry, on both trees alike.
func TestRefused(t *testing.T) {
	long := strings.Repeat("n", 256)
	deep := strings.Repeat("d/", 2100)
	cases := []struct{ name, layer, want string }{
		{"C50 dots", "f ../../evil x", `entry "../../evil": its name holds ".."`},
		{"C50 dots inside", "f a/../../evil x", `entry "a/../../evil"`},
		{"C50 hard link out", "h h = ../../../etc/shadow", `entry "h": hard link to "../../../etc/shadow" leads out`},
		{"hard link to nothing", "h h = nothing", `entry "h": hard link to "nothing", which is no file`},
		{"hard link to a directory", "d d\n h h = d", `which is no file`},
		{"hard link to what it replaces", "f d/x x\n h d = d/x", `which it would replace`},
		{"hard link below its target", "f x x\n h x/y = x", `which is no file`},
		{"long part", "f " + long, "longer than 255 bytes"},
		{"long name", "d " + deep, "longer than 3840 bytes"},
		{"link loop", "l a -> b\n l b -> a\n f a/x x", `entry "a/x": too many links`},
		{"long by a link", "l a -> " + strings.Repeat(strings.Repeat("d", 99)+"/", 20) + "\n f a/" + strings.Repeat(strings.Repeat("e", 99)+"/", 20) + "x x", "longer than 3840"},
		{"empty whiteout", "f .wh. x", "the whiteout names nothing"},
		{"whiteout of dots", "f .wh... x", "the whiteout names nothing"},
		{"below a whiteout", "f .wh.a/b x", "below a whiteout"},
		{"top as a link", "l ./ -> x", "the top of the tree can only be a directory"},
		{"hard link as the top", "f a\n h ./ = a", "leads out of the tree"},
		{"C61 path for all", "r=path:x g pax_global_header\n f a", `sets "path" for all entries`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, g := range grounds(t) {
				_, err := applyAll(t, g, rules{privileged: true}, tarOf(t, c.layer))
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: error %v, want %q", g.name, err, c.want)
				}
				g.done()
			}
		})
	}
}

// TestC52Order: modes, owners, capabilities and times are those of the header.
func TestC52Order(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("unprivileged: the descriptor tree is held to owners that are mapped by TestMapOwners")
		return
	}
	capability := "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	all := parseEntries(t, `
		mode=0700 own=0:0 time=978307200 d ./
		mode=4755 own=0:0 f bin/su s
		mode=6755 own=12:34 f bin/both s
		mode=2755 own=0:5 f bin/w w
		mode=0755 f bin/ping p
		mode=0400 own=3:4 x=user.x:y f ro r
		mode=0555 time=978307200 d closed
		mode=0000 d nothing
		f nothing/x x
		f closed/below b
		mode=1777 own=1:2 d tmp
		own=7:8 time=5 l tmp/l -> x
		mode=0660 own=0:6 b dev/b
		mode=0666 c dev/c
		mode=0600 own=9:9 time=-5 p dev/p
		x=user.a:1 d withattr`)
	all[4].PAXRecords[paxXattr+"security.capability"] = capability
	var full [][]string
	for _, g := range grounds(t) {
		if _, err := applyAll(t, g, rules{privileged: true}, makeTar(t, all)); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		full = append(full, g.list())
		g.done()
	}
	want := tidy(`
		d . 0700 0:0 978307200000000000
		d bin 0755 0:0 0
		f bin/both 6755 12:34 1000000000123456789 "s"
		f bin/ping 0755 0:0 1000000000123456789 "p" security.capability=0100000200200000000000000000000000000000
		f bin/su 4755 0:0 1000000000123456789 "s"
		f bin/w 2755 0:5 1000000000123456789 "w"
		d closed 0555 0:0 978307200000000000
		f closed/below 0644 0:0 1000000000123456789 "b"
		d dev 0755 0:0 0
		b dev/b 0660 0:6 1000000000123456789 1792
		c dev/c 0666 0:0 1000000000123456789 259
		p dev/p 0600 9:9 -5000000000
		d nothing 0000 0:0 1000000000123456789
		f nothing/x 0644 0:0 1000000000123456789 "x"
		f ro 0400 3:4 1000000000123456789 "r" user.x=79
		d tmp 1777 1:2 1000000000123456789
		l tmp/l 0777 7:8 5000000000 "x"
		d withattr 0755 0:0 1000000000123456789 user.a=31`)
	if d := cmp.Diff(want, full[0]); d != "" {
		t.Errorf("wanted (-), got (+):\n%s", d)
	}
	for _, other := range full[1:] {
		if d := cmp.Diff(full[0], other); d != "" {
			t.Errorf("descriptors (-) and a door (+) differ:\n%s", d)
		}
	}
}

// TestC53Owners: owners are the files' own, no attribute stands in for them.
func TestC53Owners(t *testing.T) {
	g := doorGround(t)
	_, err := applyAll(t, g, rules{privileged: true}, tarOf(t, `
		mode=2755 own=0:5 f usr/bin/write w
		mode=0750 own=990:990 d var/lib/chrony
		mode=0640 own=0:42 f etc/shadow s`))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(g.list(), "\n")
	for _, want := range []string{"f usr/bin/write 2755 0:5", "d var/lib/chrony 0750 990:990", "f etc/shadow 0640 0:42"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "rootlesscontainers") {
		t.Errorf("an attribute stands in for owners:\n%s", all)
	}
}

func TestUnprivileged(t *testing.T) {
	cases := []struct {
		layer, want string
		mapOwners   bool
		mapped      int
	}{
		{layer: "f a x"},
		{layer: "own=1:0 f etc/x x", want: `entry "etc/x": owner 1:0 can only be set by root`},
		{layer: "own=1:0 f x x\n own=0:7 d y", mapOwners: true, mapped: 2},
		{layer: "c dev/null", want: `entry "dev/null": a device node can only be made by root`, mapOwners: true},
		{layer: "x=security.capability:v f x", want: "security.capability can only be set by root"},
		{layer: "x=security.capability:v f x", mapOwners: true},
	}
	for _, c := range cases {
		for _, g := range []ground{atGround(t, false), doorGround(t)} {
			r, err := applyAll(t, g, rules{mapOwners: c.mapOwners}, tarOf(t, c.layer))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s %q: error %v, want %q", g.name, c.layer, err, c.want)
			}
			if r.Mapped != c.mapped {
				t.Errorf("%s %q: mapped %d", g.name, c.layer, r.Mapped)
			}
			g.done()
		}
	}
}

func TestWarnings(t *testing.T) {
	layer := tarOf(t, "x=security.selinux:s f a a\n x=user.x:1 l b -> a\n x=user.y:1 p c")
	for _, g := range grounds(t) {
		r, err := applyAll(t, g, rules{privileged: true}, layer)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		got := strings.Join(r.Warnings, "\n")
		for _, want := range []string{"security.selinux labels are left out", "b: user.x is left out", "c: user.y is left out"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no warning %q in %q", g.name, want, got)
			}
		}
		g.done()
	}
}

func TestLimits(t *testing.T) {
	layer := tarOf(t, "f a 12345\n f b 12345\n f c")
	for name, l := range map[string]Limits{
		"more than 2 entries": {Entries: 2},
		"more than 7 bytes":   {Bytes: 7},
	} {
		g := doorGround(t)
		_, err := applyAll(t, g, rules{privileged: true, limits: l}, layer)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `entry "`) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}
