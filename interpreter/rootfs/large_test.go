package rootfs

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestLargeArchive: layers of a compressed archive that are too large to be
// kept are read again, and files are written whole whatever their holes.
func TestLargeArchive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 6<<20)
	for i := range noise {
		noise[i] = "0123456789abcdef"[r.IntN(16)]
	}
	for _, hole := range [][2]int{{0, 1 << 14}, {100_000, 500_000}, {1 << 20, 2<<20 + 5}, {2 << 20, 3 << 20}} {
		clear(noise[hole[0]:hole[1]])
	}
	entry := parseEntry(t, "f big")
	entry.Size, entry.PAXRecords[contentKey] = int64(len(noise)), string(noise)
	root := makeTar(t, append(parseEntries(t, "f small s"), entry))
	image := imageOfTar(t, root)
	archive := gz(t, tarDir(t, writeLayout(t, image)))
	got, err := resolveRef(t, writeFile(t, "x.tar.gz", archive), amd64)
	if err != nil {
		t.Fatal(err)
	}
	tree := unpackTo(t, got)
	if want := fmt.Sprintf("f big %q", noise); len(tree) != 2 || tree[0] != want {
		t.Errorf("the large file differs; %d entries", len(tree))
	}
	if !strings.HasPrefix(tree[1], "f small") {
		t.Errorf("tree %.100q", tree[1])
	}
}

// TestManyDirectories: more directories than are kept open, and removal of
// deep ones.
func TestManyDirectories(t *testing.T) {
	var lower, upper strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lower, "d d%d/e/f\nf d%d/e/f/x %d\n", i, i, i)
		fmt.Fprintf(&upper, "h d%d/link = d%d/e/f/x\n", i, (i+60)%200)
		if i%3 == 0 {
			fmt.Fprintf(&upper, "f d%d/.wh.e\n", i)
		}
	}
	for i := range 200 {
		fmt.Fprintf(&upper, "f d%d/e/g/y y\n", i)
	}
	var lists []string
	for _, g := range []ground{atGround(t, true), memoryGround(t)} {
		// Links to what the layer hides afterwards are made first.
		if _, err := applyAll(t, g, rules{privileged: true}, tarOf(t, lower.String()), sortLinksFirst(t, upper.String())); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		lists = append(lists, strings.Join(g.list(), "\n"))
		g.done()
	}
	if lists[0] != lists[1] {
		t.Error("the trees differ")
	}
	if n := len(regexp.MustCompile(`(?m)^f d\d+/e/f/x `).FindAllString(lists[0], -1)); n != 133 {
		t.Errorf("%d files are left of the lower layer", n)
	}
}

func sortLinksFirst(t *testing.T, text string) []byte {
	t.Helper()
	var links, rest []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "h ") {
			links = append(links, line)
		} else {
			rest = append(rest, line)
		}
	}
	return tarOf(t, strings.Join(links, "")+strings.Join(rest, ""))
}
