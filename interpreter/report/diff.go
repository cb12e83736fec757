package report

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"hostler/interpreter/block"
)

// maxDiff is the size in bytes of either side above which content is
// summarised.
const maxDiff = 64 << 10

// Diffs shows changes as a unified diff. Content that is sensitive, not text
// or huge is shown as digests and sizes.
func Diffs(diffs []block.Diff) string {
	var out strings.Builder
	for _, d := range diffs {
		writeDiff(&out, d)
	}
	return out.String()
}

func writeDiff(out *strings.Builder, d block.Diff) {
	name := strings.TrimPrefix(d.Thing, "path:")
	writeAccess(out, name, d)
	if d.Note != "" {
		fmt.Fprintf(out, "%s: %s\n", name, d.Note)
	}
	if bytes.Equal(d.Old, d.New) && (d.Old == nil) == (d.New == nil) {
		return
	}
	if d.Secret || !isText(d.Old) || !isText(d.New) {
		fmt.Fprintf(out, "%s: %s -> %s\n", name, sized(d.Old, d.Secret), sized(d.New, d.Secret))
		return
	}
	out.Write(unified(name, d.Old, d.New))
}

// writeAccess shows mode and owner where they change, and of a new file what is
// not usual.
func writeAccess(out *strings.Builder, name string, d block.Diff) {
	switch {
	case d.OldMode == "" && d.NewMode != "" && d.NewMode != "0644":
		fmt.Fprintf(out, "%s: mode %s\n", name, d.NewMode)
	case d.OldMode != "" && d.OldMode != d.NewMode:
		fmt.Fprintf(out, "%s: mode %s -> %s\n", name, d.OldMode, orNone(d.NewMode))
	}
	switch {
	case d.OldOwner == "" && d.NewOwner != "" && d.NewOwner != "0:0":
		fmt.Fprintf(out, "%s: owner %s\n", name, d.NewOwner)
	case d.OldOwner != "" && d.OldOwner != d.NewOwner:
		fmt.Fprintf(out, "%s: owner %s -> %s\n", name, d.OldOwner, orNone(d.NewOwner))
	}
}

// unified is a unified diff whose header has no program line.
func unified(name string, before, after []byte) []byte {
	oldName, newName := "a"+name, "b"+name
	if before == nil {
		oldName = "/dev/null"
	}
	if after == nil {
		newName = "/dev/null"
	}
	text := diff.Diff(oldName, before, newName, after)
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(text, []byte("diff ")) {
		return rest
	}
	return text
}

func isText(b []byte) bool {
	return len(b) <= maxDiff && utf8.Valid(b) && !bytes.ContainsRune(b, 0)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// sized describes content that is not shown. The plain digest of a secret
// would let it be guessed, so only its size is told.
func sized(b []byte, secret bool) string {
	switch {
	case b == nil:
		return "(absent)"
	case secret:
		return "(" + counted(len(b), "byte", "bytes") + ", not shown)"
	}
	return fmt.Sprintf("(%s, sha256:%.12x)", counted(len(b), "byte", "bytes"), sha256.Sum256(b))
}
