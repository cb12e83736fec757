package rootfs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kinds are all kinds of entries that can stand at a name, each with what it
// looks like afterwards.
func kinds() map[string][2]string {
	return map[string][2]string{
		"file":        {"f x one", "f x \"one\""},
		"empty":       {"f x", "f x"},
		"directory":   {"d x", "d x"},
		"full":        {"d x\n f x/in i", "d x\n f x/in \"i\""},
		"implied":     {"f x/in i", "d x\n f x/in \"i\""},
		"link":        {"l x -> other", "l x \"other\""},
		"dirlink":     {"l x -> dir", "l x \"dir\""},
		"dangling":    {"l x -> /no/where", "l x \"/no/where\""},
		"hardlink":    {"h x = other", "f x = other \"o\""},
		"fifo":        {"p x", "p x"},
		"character":   {"c x", "c x 259"},
		"block":       {"b x", "b x 1792"},
		"whiteout":    {"f .wh.x", ""},
		"opaque":      {"d x\n f x/.wh..wh..opq", "d x"},
		"through":     {"l x -> dir\n f x/new n", "l x \"dir\""},
		"replacedins": {"d x\n f x/in i\n f x two", "f x \"two\""},
	}
}

// TestEveryKindReplacesEveryOther applies each kind over each other one, in two
// layers and in one.
func TestEveryKindReplacesEveryOther(t *testing.T) {
	const base = "f other o\n d dir\n f dir/kept k\n"
	for lower, l := range kinds() {
		for upper, u := range kinds() {
			for _, layers := range [][]string{{base + l[0], u[0]}, {base + l[0] + "\n" + u[0]}} {
				name := fmt.Sprintf("%s over %s in %d", upper, lower, len(layers))
				one := len(layers) == 1
				got := applyBoth(t, name, layers)
				if !one || !strings.Contains("whiteout opaque directory implied full dirlink through", upper) {
					checkPair(t, name, lower, upper, u[1], got)
				}
			}
		}
	}
}

func applyBoth(t *testing.T, name string, layers []string) []string {
	t.Helper()
	var full [][]string
	for _, g := range []ground{atGround(t, true), memoryGround(t)} {
		var tars [][]byte
		for _, l := range layers {
			tars = append(tars, tarOf(t, l))
		}
		if _, err := applyAll(t, g, rules{privileged: true}, tars...); err != nil {
			t.Fatalf("%s on %s: %v", name, g.name, err)
		}
		full = append(full, g.list())
		g.done()
	}
	if d := cmp.Diff(full[0], full[1]); d != "" {
		t.Errorf("%s: descriptors (-) and door (+) differ:\n%s", name, d)
	}
	return brief(full[0])
}

// checkPair holds what is at x against what the upper entry says. Directories
// keep what a lower directory held.
func checkPair(t *testing.T, name, lower, upper, want string, got []string) {
	t.Helper()
	wanted := tidy(want)
	lowerIsDir := strings.Contains("directory full implied opaque", lower)
	switch {
	case upper == "directory" && (lower == "full" || lower == "implied"):
		wanted = append(wanted, `f x/in "i"`)
	case upper == "implied" && (lower == "dirlink" || lower == "through"):
		wanted = []string{`l x "dir"`}
	case upper == "implied" && lower == "dangling":
		wanted = []string{`l x "/no/where"`}
	case upper == "implied" && lower == "link":
		wanted = []string{`l x "other"`}
	case upper == "whiteout" && lower == "whiteout", lowerIsDir && upper == "opaque":
		wanted = tidy(want)
	}
	var at []string
	for _, l := range got {
		fields := strings.Fields(l)
		if fields[1] == "x" || strings.HasPrefix(fields[1], "x/") {
			at = append(at, l)
		}
	}
	if d := cmp.Diff(wanted, at); d != "" {
		t.Errorf("%s: wanted (-), got (+):\n%s\nall: %v", name, d, got)
	}
	if upper != "implied" && !strings.Contains(strings.Join(got, "\n"), `f dir/kept "k"`) {
		t.Errorf("%s: dir/kept is gone: %v", name, got)
	}
}
