package block_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hostler/interpreter/block"
)

// R184: a prefix that is not inert in units or in a shell is refused.
func TestR184OnlyInertPrefixes(t *testing.T) {
	for p, want := range map[string]string{
		"/opt/hostler":                 "",
		"/usr/local":                   "",
		"/a/B-9._x/.hidden/...":        "",
		"/" + strings.Repeat("a", 199): "",
		"":                             "is empty",
		"opt/x":                        "is relative",
		"~/x":                          "is relative",
		"/":                            "root directory",
		"/opt/":                        "shortest form",
		"//opt":                        "shortest form",
		"/opt//x":                      "shortest form",
		"/opt/./x":                     "shortest form",
		"/opt/..":                      "shortest form",
		"/opt/a b":                     "not the same in unit files and shells",
		"/opt/$HOME":                   "not the same",
		"/opt/%i":                      "not the same",
		"/opt/`id`":                    "not the same",
		"/opt/a;b":                     "not the same",
		"/opt/a\nb":                    "not the same",
		"/opt/a\n":                     "not the same",
		"/opt/a\x00":                   "not the same",
		"/opt/ä":                       "not the same",
		`/opt/a\b`:                     "not the same",
		"/opt/a'":                      "not the same",
		"/" + strings.Repeat("a", 200): "200 is the most",
	} {
		err := block.CheckPrefix(p)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", p, err, want)
		}
	}
}

// What is taken has nothing in it that a unit file or a shell reads otherwise.
func TestR184WhatIsTakenIsInert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringMatching(`(/[A-Za-z0-9._ $%'"\\;&|*?~#\n-]{0,6}){1,5}`).Draw(t, "prefix")
		if block.CheckPrefix(p) != nil {
			return
		}
		if strings.ContainsAny(p, " \t\n$%'\"\\;&|*?~#`(){}[]<>!^=:,@") || len(p) > 200 || p[0] != '/' {
			t.Fatalf("%q is taken", p)
		}
	})
}
