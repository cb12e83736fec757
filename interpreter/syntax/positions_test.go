package syntax_test

import (
	"testing"

	"hostler/interpreter/syntax"
)

func TestPositions(t *testing.T) {
	p := syntax.NewPositions("a", []byte("x\n日本 two\n"))
	r := p.Span(9, 12)
	if r.Filename != "a" || r.Start.Line != 2 || r.Start.Column != 4 || r.End.Column != 7 || r.End.Byte != 12 || string(p.Text(9, 12)) != "two" {
		t.Errorf("%+v %q", r, p.Text(9, 12))
	}
	if end := p.Span(90, 99); end.Start.Byte != 13 || end.End.Line != 3 {
		t.Errorf("%+v", end)
	}
}
