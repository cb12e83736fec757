package report

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestLongLine: a line that nobody could read is not quoted.
func TestLongLine(t *testing.T) {
	at := hcl.Range{Filename: "f", Start: hcl.Pos{Line: 1, Column: 1}, End: hcl.Pos{Line: 1, Column: 2}}
	for length, quoted := range map[int]bool{snippetLine: true, snippetLine + 1: false} {
		file := &hcl.File{Bytes: []byte(strings.Repeat("x", length) + "\n")}
		if got := snippet(at, file) != nil; got != quoted {
			t.Errorf("%d bytes: quoted %v", length, got)
		}
	}
}
