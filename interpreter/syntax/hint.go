package syntax

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
)

// TemplateHint returns advice for a variable that does not exist, if it is
// written like a variable of a shell inside a string or heredoc: ${HOME},
// ${X-d}, ${X%.*}. rng is the range of the name; "" means that the reference
// does not look like one. The advice is a sentence to append to a detail.
func TemplateHint(file *File, rng hcl.Range, name string) string {
	from, to := rng.Start.Byte, rng.End.Byte
	if file == nil || from < 2 || to > len(file.Bytes) || from > to || !bareName(name) {
		return ""
	}
	before := bytes.TrimRight(file.Bytes[:from], "!")
	if !bytes.HasSuffix(before, []byte("${")) {
		return ""
	}
	start := len(before) - 2
	if start > 0 && file.Bytes[start-1] == '$' {
		return ""
	}
	end := closingBrace(file.Bytes, start)
	if end < to || !regexp.MustCompile(`^([-%/^,:?+=#@\[!].*)?$`).Match(file.Bytes[to:end]) {
		return ""
	}
	text := short(string(file.Bytes[start : end+1]))
	return fmt.Sprintf("In strings and heredocs ${ begins an expression of this language. "+
		"To write %s itself, for a shell, double the dollar sign: $%s.", text, text)
}

func bareName(name string) bool { return regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`).MatchString(name) }
