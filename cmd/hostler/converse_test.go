package main

import (
	"strings"
	"testing"
)

// TestCompleted: the line gets what all candidates have in common; several that
// have no more are listed.
func TestCompleted(t *testing.T) {
	for _, tt := range []struct {
		lines        []string
		line, listed string
		ok           bool
	}{
		{nil, "", "", false},
		{[]string{"upper("}, "upper(", "", true},
		{[]string{"host.os.id", "host.os.id_like"}, "host.os.id", "host.os.id  host.os.id_like\n", true},
	} {
		var b strings.Builder
		line, pos, ok := completed(&b, tt.lines)
		if line != tt.line || ok != tt.ok || pos != len(tt.line) || b.String() != tt.listed {
			t.Errorf("%q: %q, %d, %v, listed %q", tt.lines, line, pos, ok, b.String())
		}
	}
}
