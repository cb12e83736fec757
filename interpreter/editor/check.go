package editor

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/syntax"
)

// checked is what the linter found in a document: by the file that it is about.
type checked struct {
	findings []lint.Finding
	texts    map[string][]byte
}

// check lints a document as the client has it, with the other open documents
// over the files that are saved.
func (s *Service) check(d *document) checked {
	switch d.kind() {
	case kindRecipe:
		return s.lint(d)
	case kindConfig:
		_, diags := lint.ParseConfig(d.name(), d.clean, s.Linter.Rules)
		return checked{findings: faults(diags)}
	case kindHCL:
		_, diags := syntax.Parse(d.name(), []byte(d.raw))
		return checked{findings: faults(diags)}
	}
	return checked{}
}

func faults(diags hcl.Diagnostics) (list []lint.Finding) {
	for _, diag := range diags {
		if diag.Subject != nil {
			list = append(list, lint.Finding{Severity: lint.Error, Summary: diag.Summary, Detail: diag.Detail, Range: *diag.Subject})
		}
	}
	return list
}

func (s *Service) lint(d *document) checked {
	in, excluded := s.input(d)
	if excluded {
		return checked{}
	}
	res := s.linter().Lint(in)
	return checked{res.Findings, res.Texts}
}

// linter is the linter with the open documents over the files of used recipes.
func (s *Service) linter() *lint.Linter {
	l := *s.Linter
	l.Loader = overlaid{l.Loader, s.documents.read}
	return &l
}

// overlaid opens recipes as the client has them.
type overlaid struct {
	eval.Loader
	read func(string) ([]byte, bool)
}

// Open opens what a use block names.
func (o overlaid) Open(from eval.Source, ref string) (eval.Source, error) {
	src, err := o.Loader.Open(from, ref)
	if err != nil {
		return nil, err
	}
	return eval.Overlay(src, o.read), nil
}

// input is a document as the linter takes it, with the configuration that is
// saved for its file; excluded says that it is not to be checked.
func (s *Service) input(d *document) (in lint.Input, excluded bool) {
	in = lint.Input{Source: d.source(), Tested: true, Config: lint.DefaultConfig(s.Linter.Rules)}
	find := lint.Discovery{Rules: s.Linter.Rules}
	if found, err := find.Find([]string{d.path}); d.path != "" && err == nil {
		if len(found) == 0 {
			return in, true
		}
		in = found[0]
	}
	in.Source = eval.Overlay(in.Source, func(name string) ([]byte, bool) {
		if name == d.name() {
			return []byte(d.raw), true
		}
		return s.documents.read(name)
	})
	return in, false
}

// source is a recipe that is not saved yet: in its directory, if it has one.
func (d *document) source() eval.Source {
	if path.Base(d.name()) == eval.MainFile && d.path != "" {
		if src, err := eval.Open(filepath.Dir(d.path)); err == nil {
			return src
		}
	}
	return unsaved{d}
}

// unsaved is a recipe that is no file.
type unsaved struct{ *document }

// Name is the document's.
func (u unsaved) Name() string { return u.document.name() }

// Main is the document's text.
func (u unsaved) Main() (string, []byte, error) { return u.document.name(), []byte(u.raw), nil }

// ReadFile reads nothing: there is no directory.
func (u unsaved) ReadFile(name string) ([]byte, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
}

// diagnostics are the findings of a check for the client, by URI. The document
// itself is always among them.
func (s *Service) diagnostics(d *document, c checked) map[string][]Diagnostic {
	all := map[string][]Diagnostic{d.uri: {}}
	texts := map[string]*text{d.name(): d.text}
	for _, f := range c.findings {
		name := f.Range.Filename
		uri := d.uri
		if name != d.name() {
			if !filepath.IsAbs(name) { // a recipe that is shipped
				continue
			}
			uri = s.documents.uri(name)
		}
		if texts[name] == nil {
			texts[name] = newText(string(c.texts[name]))
		}
		all[uri] = append(all[uri], diagnostic(texts[name], f))
	}
	return all
}

func diagnostic(t *text, f lint.Finding) Diagnostic {
	out := Diagnostic{
		Range: t.rangeOf(span{f.Range.Start.Byte, f.Range.End.Byte}), Severity: severityWarning,
		Code: f.Rule, Source: "hostler", Message: f.Summary + "\n" + f.Detail,
	}
	if bytes.IndexByte(t.clean, '\n') < 0 || f.Range.Start.Byte > len(t.clean) {
		out.Range = Range{}
	}
	if f.Severity == lint.Error {
		out.Severity = severityError
	}
	switch {
	case strings.HasPrefix(f.Rule, "unused-"):
		out.Tags = []int{tagUnnecessary}
	case strings.Contains(f.Rule, "deprecated"):
		out.Tags = []int{tagDeprecated}
	}
	return out
}
