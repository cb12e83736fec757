package format

import (
	"fmt"
	"io"
	"strings"

	"hostler/interpreter/lint"
)

// writeGitHub writes the workflow commands that GitHub Actions shows beside the
// lines of a change.
func writeGitHub(w io.Writer, r Report) error {
	var err error
	r.each(func(res lint.Result, f lint.Finding) {
		text := res.Texts[f.Range.Filename]
		if err == nil {
			_, err = fmt.Fprintf(w, "::%s file=%s,line=%d,endLine=%d,col=%d,endColumn=%d,title=%s::%s\n", f.Severity,
				property(f.Range.Filename), f.Range.Start.Line, f.Range.End.Line, codePoints(text, f.Range.Start), codePoints(text, f.Range.End),
				property(f.Summary+" ("+f.Rule+")"), data(f.Detail))
		}
	})
	return err
}

// data escapes the message of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes the value of a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
