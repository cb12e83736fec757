package format

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/lint"
)

// line is the line of a text that holds an offset, and where it begins.
func line(text []byte, at int) (content string, start int) {
	at = max(0, min(at, len(text)))
	start = bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
		end = start + n
	}
	return string(bytes.TrimSuffix(text[start:end], []byte("\r"))), start
}

// snippet is the line that a range starts on.
type snippet struct {
	Code           string `json:"code"`
	StartLine      int    `json:"start_line"`
	HighlightStart int    `json:"highlight_start"`
	HighlightEnd   int    `json:"highlight_end"`
}

// snippetOf is nil when there is no text, or it is not to be shown.
func snippetOf(res lint.Result, f lint.Finding) *snippet {
	text, r := res.Texts[f.Range.Filename], f.Range
	if text == nil || r.Start.Line < 1 || secretLine(res, r) {
		return nil
	}
	code, start := line(text, r.Start.Byte)
	from := min(r.Start.Byte-start, len(code))
	to := min(r.End.Byte-start, len(code))
	return &snippet{code, r.Start.Line, from, max(from, to)}
}

// secretLine says whether the line that a range starts on holds a secret.
func secretLine(res lint.Result, r hcl.Range) bool {
	return slices.ContainsFunc(res.Findings, func(f lint.Finding) bool {
		return f.Secret && f.Range.Filename == r.Filename && f.Range.Start.Line <= r.Start.Line && r.Start.Line <= f.Range.End.Line
	})
}

// codePoints is the column of a position counted in code points, from 1.
func codePoints(text []byte, p hcl.Pos) int {
	if text == nil {
		return max(1, p.Column)
	}
	_, start := line(text, p.Byte)
	return 1 + utf8.RuneCount(text[start:max(start, min(p.Byte, len(text)))])
}
