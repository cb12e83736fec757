package lint

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/eval"
)

// Fixed is what fixing a recipe came to.
type Fixed struct {
	// Before is the text as it was, After as it is now; equal when nothing was
	// fixed.
	Before, After []byte
	Applied       []Finding
	// Refused are findings whose fix would have changed something else.
	Refused []Refusal
}

// Refusal is a fix that was not made.
type Refusal struct {
	Finding
	Reason string
}

// maxRounds bounds how often a text is fixed again, for fixes that overlap.
const maxRounds = 10

// Fix removes what fixes can remove. A fix is made only if the text still
// parses and formats, has no new fault, and everything that the fix does not
// name reads the same afterwards.
func (l *Linter) Fix(in Input) (Fixed, error) {
	src := in.Source
	_, raw, err := src.Main()
	if err != nil {
		return Fixed{}, err
	}
	out := Fixed{Before: raw, After: raw}
	refused := map[string]bool{}
	for range maxRounds {
		in.Source = edited(src, out.After)
		p := l.pass(in)
		todo := l.fixable(in, refused)
		if len(todo) == 0 || p.Inspection.Broken() {
			break
		}
		text := l.applyAll(p, in, todo, refused, &out)
		if bytes.Equal(text, p.File.Bytes) {
			continue
		}
		out.After = restore(raw, text)
	}
	return out, nil
}

// fixable are the findings with a fix that was not refused, those that overlap
// an earlier one left out.
func (l *Linter) fixable(in Input, refused map[string]bool) []Finding {
	var list []Finding
	end := -1
	for _, f := range l.Lint(in).Findings {
		if f.Fix == nil || refused[f.key()] || len(f.Fix.Edits) == 0 {
			continue
		}
		from, to := f.Fix.span()
		if from >= end {
			list, end = append(list, f), to
		}
	}
	return list
}

// key names a finding by what it is about, not by where it stands.
func (f Finding) key() string { return f.Rule + "\x00" + f.Address + "\x00" + f.Detail }

// span is what the edits cover, in bytes.
func (f *Fix) span() (from, to int) {
	from = f.Edits[0].Range.Start.Byte
	for _, e := range f.Edits {
		from, to = min(from, e.Range.Start.Byte), max(to, e.Range.End.Byte)
	}
	return from, to
}

// applyAll makes all fixes at once if that is right, else each by itself as far
// as it is.
func (l *Linter) applyAll(p *Pass, in Input, todo []Finding, refused map[string]bool, out *Fixed) []byte {
	text := apply(p.File.Bytes, todo)
	if l.harm(p, in, todo, text) == "" {
		out.Applied = append(out.Applied, todo...)
		return text
	}
	for _, f := range todo {
		one := apply(p.File.Bytes, []Finding{f})
		reason := l.harm(p, in, []Finding{f}, one)
		if reason == "" {
			out.Applied = append(out.Applied, f)
			return one // positions have moved: the rest is for the next round
		}
		refused[f.key()] = true
		out.Refused = append(out.Refused, Refusal{f, reason})
	}
	return p.File.Bytes
}

// apply makes the edits of findings, which do not overlap.
func apply(text []byte, findings []Finding) []byte {
	var edits []Edit
	for _, f := range findings {
		edits = append(edits, f.Fix.Edits...)
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.Range.Start.Byte < at || e.Range.End.Byte > len(text) {
			return text
		}
		out = append(append(out, text[at:e.Range.Start.Byte]...), e.Text...)
		at = e.Range.End.Byte
	}
	return append(out, text[at:]...)
}

// restore gives a text the line ends and the mark of the file it came from.
func restore(raw, text []byte) []byte {
	if bytes.Contains(raw, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(raw, mark) {
		text = append(slices.Clone(mark), text...)
	}
	return text
}

// edited is a recipe whose main file reads otherwise.
func edited(src eval.Source, text []byte) eval.Source {
	return eval.Overlay(src, func(name string) ([]byte, bool) { return text, name == src.Name() })
}

// touched says whether an edit of the findings touches a range.
func touched(findings []Finding, at hcl.Range) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return slices.ContainsFunc(f.Fix.Edits, func(e Edit) bool { return overlap(e.Range, at) || within(e.Range, at) })
	})
}
