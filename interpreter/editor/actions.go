package editor

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

// Kinds of code actions.
const (
	actionFix    = "quickfix"
	actionFixAll = "source.fixAll.hostler"
)

// actions are the fixes of findings that touch a range, and the one that makes
// all that are safe.
func (s *Service) actions(ctx context.Context, d *document, at span, only []string) []CodeAction {
	list := []CodeAction{}
	if d.kind() != kindRecipe {
		return list
	}
	found := s.check(d)
	if wanted(only, actionFix) {
		for _, f := range found.findings {
			touches := f.Range.Filename == d.name() && f.Range.Start.Byte <= at.to && at.from <= f.Range.End.Byte
			if touches && f.Fix != nil && ctx.Err() == nil {
				list = append(list, d.fixOf(f))
			}
			if touches && f.Rule != "" && f.Rule != "validate" && f.Rule != "suppression" {
				list = append(list, d.answerTo(f))
			}
		}
	}
	fixable := slices.ContainsFunc(found.findings, func(f lint.Finding) bool { return f.Fix != nil })
	if fixable && wanted(only, actionFixAll) && ctx.Err() == nil {
		list = append(list, s.fixAll(d)...)
	}
	return list
}

// wanted says whether a kind of actions is among those asked for, which name
// whole families.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return kind == o || strings.HasPrefix(kind, o+".") })
}

func (d *document) fixOf(f lint.Finding) CodeAction {
	var edits []TextEdit
	for _, e := range f.Fix.Edits {
		edits = append(edits, TextEdit{d.rangeOf(span{e.Range.Start.Byte, e.Range.End.Byte}), strings.ReplaceAll(e.Text, "\n", d.newline())})
	}
	return CodeAction{
		Title: capital(f.Fix.Message), Kind: actionFix, IsPreferred: true, Diagnostics: []Diagnostic{diagnostic(d.text, f)},
		Edit: &WorkspaceEdit{map[string][]TextEdit{d.uri: edits}},
	}
}

// answerTo writes the comment that answers a finding above its line. What
// stands for the reason is to be replaced; inside of a heredoc the comment
// belongs above the argument.
func (d *document) answerTo(f lint.Finding) CodeAction {
	at := f.Range.Start.Byte
	if n := d.outline().root.blockAt(at); n.attrAt(at) != nil {
		at = n.attrAt(at).at.from
	}
	line := d.line(at)
	blank := line.from
	for blank < line.to && (d.clean[blank] == ' ' || d.clean[blank] == '\t') {
		blank++
	}
	comment := string(d.clean[line.from:blank]) + "# hostler:ignore " + f.Rule + " why it is right here" + d.newline()
	return CodeAction{
		Title: "Say why it is right here: ignore " + f.Rule, Kind: actionFix, Diagnostics: []Diagnostic{diagnostic(d.text, f)},
		Edit: &WorkspaceEdit{map[string][]TextEdit{d.uri: {{d.rangeOf(span{line.from, line.from}), comment}}}},
	}
}

// fixAll makes all fixes that change nothing else.
func (s *Service) fixAll(d *document) []CodeAction {
	in, excluded := s.input(d)
	if excluded {
		return nil
	}
	fixed, err := s.linter().Fix(in)
	if err != nil || bytes.Equal(fixed.Before, fixed.After) {
		return nil
	}
	return []CodeAction{{
		Title: "Fix everything that is safe to fix", Kind: actionFixAll,
		Edit: &WorkspaceEdit{map[string][]TextEdit{d.uri: d.rewritten(string(newText(string(fixed.After)).clean))}},
	}}
}

// format lays a document out. One with faults of syntax stays as it is.
func (s *Service) format(d *document) []TextEdit {
	if d.kind() == kindOther {
		return []TextEdit{}
	}
	out, diags := syntax.Format(d.name(), []byte(d.raw))
	if diags.HasErrors() {
		return []TextEdit{}
	}
	return d.rewritten(string(out))
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
