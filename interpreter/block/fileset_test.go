package block

import (
	"slices"
	"testing"
)

func TestMatchFiles(t *testing.T) {
	names := []string{"recipe.hcl", "files/a.conf", "files/b.conf", "files/sub/c.conf", "files/sub/deep/d.txt", "files/ä+.conf"}
	for _, tt := range []struct {
		dir, pattern string
		want         []string
	}{
		{"files", "*.conf", []string{"a.conf", "b.conf", "ä+.conf"}},
		{"files", "**/*.conf", []string{"a.conf", "b.conf", "sub/c.conf", "ä+.conf"}},
		{"files", "**", []string{"a.conf", "b.conf", "sub/c.conf", "sub/deep/d.txt", "ä+.conf"}},
		{"files", "{a,b}.conf", []string{"a.conf", "b.conf"}},
		{"files", "[b-z].conf", []string{"b.conf"}},
		{"files", "?.conf", []string{"a.conf", "b.conf"}},
		{"files/sub", "**/*.txt", []string{"deep/d.txt"}},
		{".", "*", []string{"recipe.hcl"}},
		{"none", "*", []string{}},
		{"files", "ä+.conf", []string{"ä+.conf"}},
	} {
		got, err := MatchFiles(names, tt.dir, tt.pattern)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s in %s: %q, %v, want %q", tt.pattern, tt.dir, got, err, tt.want)
		}
	}
	for _, bad := range [][2]string{{"../x", "*"}, {"/etc", "*"}, {".", ""}, {".", "[z-a]"}} {
		if got, err := MatchFiles(names, bad[0], bad[1]); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
	if got, err := MatchSuffixes([]string{"r//files/a", "r//", "other//files/b"}, "r//", "files", "*"); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
}
