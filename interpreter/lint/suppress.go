package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/syntax"
)

// suppressions are the comments that answer findings.
type suppressions struct {
	known []string
	list  []*suppression
}

// suppression is one comment: the rule it answers, and where.
type suppression struct {
	rule, reason string
	at           hcl.Range // of the comment
	scope        hcl.Range // of what it is about
	used         bool
}

// marker finds a comment that may answer a finding; what stands before it, its
// sign, the rule and the reason are its groups.
func marker() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(.*?)(#|//|;)[ \t]*hostler:ignore(?:[ \t]+(\S+))?[ \t]*(.*)$`)
}

// scan finds the comments of the recipe and of the assets that were looked at.
func (s *suppressions) scan(p *Pass) {
	if bytes.Contains(p.File.Bytes, []byte("hostler:ignore")) {
		s.recipe(p)
	}
	for _, a := range p.assets {
		if a.err == nil && bytes.Contains(a.bytes, []byte("hostler:ignore")) {
			for _, m := range marker().FindAllSubmatchIndex(a.bytes, -1) {
				if blank(a.bytes[m[2]:m[3]]) {
					s.add(a.bytes, m, a.positions, nextLine(a.bytes, m[1]))
				}
			}
		}
	}
	slices.SortFunc(s.list, func(a, b *suppression) int {
		return cmp.Or(strings.Compare(a.at.Filename, b.at.Filename), a.at.Start.Byte-b.at.Start.Byte)
	})
}

// span is a part of a text, by offsets.
type span struct{ from, to int }

func (s *suppressions) recipe(p *Pass) {
	src := p.File.Bytes
	comments := map[int]bool{}
	tokens, _ := hclsyntax.LexConfig(src, p.File.Name, hcl.InitialPos)
	for _, tok := range tokens {
		if tok.Type == hclsyntax.TokenComment {
			comments[tok.Range.Start.Byte] = true
		}
	}
	for _, m := range marker().FindAllSubmatchIndex(src, -1) {
		alone, comment := blank(src[m[2]:m[3]]), comments[m[4]]
		switch {
		case comment && alone:
			s.add(src, m, p.positions, itemOn(p.File.Body, nextLine(src, m[1])))
		case comment:
			s.add(src, m, p.positions, itemOn(p.File.Body, span{m[0], m[1]}))
		case alone: // in a heredoc
			s.add(src, m, p.positions, nextLine(src, m[1]))
		}
	}
}

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

func (s *suppressions) add(src []byte, m []int, positions syntax.Positions, scope span) {
	sup := &suppression{at: positions.Span(m[4], m[1]), scope: positions.Span(scope.from, scope.to)}
	if m[6] >= 0 {
		sup.rule = string(src[m[6]:m[7]])
	}
	sup.reason = strings.TrimSpace(string(src[m[8]:m[9]]))
	s.list = append(s.list, sup)
}

// nextLine is the first line after an offset that is neither blank nor a
// comment.
func nextLine(src []byte, at int) span {
	for at < len(src) {
		end := at + 1
		if n := bytes.IndexByte(src[end:], '\n'); n >= 0 {
			end += n
		} else {
			end = len(src)
		}
		line := bytes.TrimSpace(src[at:end])
		if len(line) > 0 && line[0] != '#' && line[0] != ';' && !bytes.HasPrefix(line, []byte("//")) {
			return span{at, end}
		}
		at = end
	}
	return span{len(src), len(src)}
}

// itemOn is the argument or block that begins on a line, else one that ends on
// it, else the line.
func itemOn(body *hclsyntax.Body, line span) span {
	found := line
	visitItems(body, func(item span) {
		switch {
		case item.from >= line.from && item.from < line.to && found == line:
			found = item
		case item.to > line.from && item.to <= line.to && found == line && item.from < line.from:
			found = item
		}
	})
	return found
}

func visitItems(body *hclsyntax.Body, visit func(span)) {
	for _, a := range syntax.Attributes(body) {
		visit(span{a.SrcRange.Start.Byte, a.SrcRange.End.Byte})
	}
	for _, b := range body.Blocks {
		visit(span{b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte})
		visitItems(b.Body, visit)
	}
}

// answer says whether a comment answers a finding.
func (s *suppressions) answer(f Finding) (reason string, ok bool) {
	for _, sup := range s.list {
		if sup.rule != f.Rule || sup.reason == "" || !sup.covers(f) {
			continue
		}
		sup.used = true
		return sup.reason, true
	}
	return "", false
}

func (s *suppression) covers(f Finding) bool {
	starts := func(r hcl.Range) bool {
		return r.Filename == s.scope.Filename && r.Start.Byte >= s.scope.Start.Byte && r.Start.Byte < s.scope.End.Byte
	}
	return starts(f.Range) || f.Range.Filename != s.scope.Filename && f.step.Filename != "" && starts(f.step)
}

// findings are the comments that are no answer. In a recipe that could not be
// understood nothing was checked, so that no comment is idle.
func (s *suppressions) findings(r *Rule, broken bool, c Config) []Finding {
	var list []Finding
	for _, sup := range s.list {
		if text := s.idle(sup, broken, c); text != "" {
			list = append(list, Finding{Rule: r.Name, Severity: r.Severity, Summary: r.Summary, Detail: text, Range: sup.at})
		}
	}
	return list
}

func (s *suppressions) idle(sup *suppression, broken bool, c Config) string {
	switch {
	case sup.rule == "":
		return "The comment names no rule. Write # hostler:ignore RULE and the reason why it is right here."
	case !slices.Contains(s.known, sup.rule):
		hint := " \"hostler explain\" shows rules by their names."
		if near := syntax.Suggest(sup.rule, s.known); near != "" {
			hint = fmt.Sprintf(" Did you mean %q?", near)
		}
		return fmt.Sprintf("There is no rule %q.%s", sup.rule, hint)
	case sup.rule == ruleValidate:
		return "An invalid recipe cannot be run, so what validation finds cannot be ignored."
	case sup.reason == "":
		return fmt.Sprintf("The comment gives no reason. Write why %s does not matter here after its name.", sup.rule)
	case sup.used || broken || c.off(sup.rule):
		return ""
	}
	return fmt.Sprintf("Nothing here is found by %s. Remove the comment, or move it to the line above what it is about.", sup.rule)
}
