package rehearse

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"hostler/interpreter/rehearse/laws"
	"hostler/interpreter/rehearse/scene"
	"hostler/interpreter/syntax"
)

// Test is one test of a file.
type Test struct {
	Name, File string
	Range      hcl.Range
	host       *scene.Host
	inputs     map[string][]byte
	inputsAt   hcl.Range
	acts       []act
	// except are the laws that do not hold for it.
	except map[string]bool
}

// act is a run or an event of a test, in the order written.
type act struct {
	rng   hcl.Range
	run   *runBlock
	event *eventBlock
}

// reading is one test file while it is read.
type reading struct {
	*Suite
	name  string
	ctx   *hcl.EvalContext
	hosts map[string]*scene.Host
	// except are the laws left out for the whole file.
	except map[string]bool
	diags  hcl.Diagnostics
}

func (s *Suite) readFile(name string) hcl.Diagnostics {
	r := &reading{Suite: s, name: s.file(name), hosts: map[string]*scene.Host{}, except: map[string]bool{}}
	src, err := fs.ReadFile(s.tests, name)
	if err != nil {
		return hcl.Diagnostics{diagnose(nil, "Test file not readable", "%s: %v.", r.name, err)}
	}
	file, diags := syntax.Parse(r.name, src)
	s.Sources[r.name] = &hcl.File{Bytes: file.Bytes, Body: file.Body}
	if diags.HasErrors() {
		return diags
	}
	r.ctx = &hcl.EvalContext{Functions: s.Vocabulary.Functions(assets{s.tests})}
	r.top(file.Body)
	return r.diags
}

// top reads hosts and laws first, for the tests that use them.
func (r *reading) top(body *hclsyntax.Body) {
	r.noAttributes(body, "test file")
	var tests []*hclsyntax.Block
	for _, b := range body.Blocks {
		switch b.Type {
		case "host":
			r.sharedHost(b)
		case "laws":
			r.laws(b, r.except)
		case "test":
			tests = append(tests, b)
		default:
			r.unknown(b, "test", "host", "laws")
		}
	}
	for _, b := range tests {
		r.test(b)
	}
	if len(tests) == 0 && len(r.diags) == 0 {
		r.add(hcl.Range{Filename: r.name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Test file without tests",
			"It shows nothing: write test %q { … }, or take the file away.", "comes up on a fresh host")
	}
}

func (r *reading) add(rng hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, diagnose(&rng, summary, format, args...))
}

func diagnose(rng *hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	detail := strings.TrimSpace(fmt.Sprintf(format, args...))
	if strings.HasSuffix(detail, "..") && !strings.HasSuffix(detail, "...") {
		detail = strings.TrimSuffix(detail, ".") // of an error that is a sentence
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: rng}
}

func (r *reading) unknown(b *hclsyntax.Block, names ...string) {
	hint := ""
	if near := syntax.Suggest(b.Type, names); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	r.add(b.TypeRange, "Unknown block", "There is no block %q here; there are %s.%s", b.Type, quoted(names), hint)
}

func (r *reading) noAttributes(body *hclsyntax.Body, where string) {
	for _, a := range syntax.Attributes(body) {
		r.add(a.NameRange, "Unknown argument", "A %s has no arguments, only blocks.", where)
	}
}

func (r *reading) sharedHost(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		r.add(b.DefRange(), "Host without a name", "A host outside of a test has one label, by which tests begin with it: host %q { … }.", "debian")
		return
	}
	if r.hosts[b.Labels[0]] != nil {
		r.add(b.LabelRanges[0], "Duplicate host", "There is a host %q already.", b.Labels[0])
		return
	}
	h, diags := scene.Read(b.Body, r.ctx, r.tests, nil)
	r.diags = append(r.diags, diags...)
	if h != nil {
		r.hosts[b.Labels[0]] = h
	}
}

// host reads the host of a test; a label names the host that it begins with.
func (r *reading) host(b *hclsyntax.Block) *scene.Host {
	var base *scene.Host
	switch len(b.Labels) {
	case 0:
	case 1:
		if base = r.hosts[b.Labels[0]]; base == nil {
			r.add(b.LabelRanges[0], "Unknown host", "There is no host %q in this file.", b.Labels[0])
			return nil
		}
	default:
		r.add(b.DefRange(), "Too many labels", "A host has at most one label: the host of this file that it begins with.")
		return nil
	}
	h, diags := scene.Read(b.Body, r.ctx, r.tests, base)
	r.diags = append(r.diags, diags...)
	return h
}

func (r *reading) laws(b *hclsyntax.Block, except map[string]bool) {
	var l struct {
		Except []string `hcl:"except,optional"`
	}
	r.diags = append(r.diags, gohcl.DecodeBody(b.Body, r.ctx, &l)...)
	for _, name := range l.Except {
		if !slices.Contains(laws.Names(), name) {
			r.add(b.Body.Attributes["except"].Expr.Range(), "Unknown law", "There is no law %q; there are %s.", name, quoted(laws.Names()))
		}
		except[name] = true
	}
}

// test reads one test.
func (r *reading) test(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		r.add(b.DefRange(), "Test without a name", "A test has one label that says what it shows: test %q { … }.", "comes up on a fresh host")
		return
	}
	before := len(r.diags)
	t := &Test{Name: b.Labels[0], File: r.name, Range: b.DefRange(), except: map[string]bool{}}
	for name := range r.except {
		t.except[name] = true
	}
	if slices.ContainsFunc(r.Tests, func(o *Test) bool { return o.Name == t.Name && o.File == t.File }) {
		r.add(b.LabelRanges[0], "Duplicate test", "There is a test %q in this file already.", t.Name)
	}
	r.testArguments(t, b.Body)
	for _, inner := range b.Body.Blocks {
		r.testBlock(t, inner)
	}
	if t.host == nil && len(r.diags) == before {
		t.host, _ = scene.Read(&hclsyntax.Body{}, r.ctx, r.tests, nil) // a plain Debian is always possible
	}
	if len(t.acts) == 0 && len(r.diags) == before {
		r.add(b.DefRange(), "Test without runs", "A test runs something: write run \"apply\" {}.")
	}
	if len(r.diags) == before {
		r.Tests = append(r.Tests, t)
	}
}

func (r *reading) testArguments(t *Test, body *hclsyntax.Body) {
	var args struct {
		Description string         `hcl:"description,optional"`
		Inputs      *hcl.Attribute `hcl:"inputs,optional"`
	}
	only := &hclsyntax.Body{Attributes: body.Attributes, SrcRange: body.SrcRange, EndRange: body.EndRange}
	r.diags = append(r.diags, gohcl.DecodeBody(only, r.ctx, &args)...)
	t.inputs, t.inputsAt = r.inputs(args.Inputs)
}

func (r *reading) testBlock(t *Test, b *hclsyntax.Block) {
	switch b.Type {
	case "host":
		if t.host != nil {
			r.add(b.DefRange(), "Second host", "A test has one host.")
			return
		}
		t.host = r.host(b)
	case "laws":
		r.laws(b, t.except)
	case "run":
		if run := r.run(b); run != nil {
			t.acts = append(t.acts, act{rng: b.DefRange(), run: run})
		}
	case "event":
		if e := r.event(b); e != nil {
			t.acts = append(t.acts, act{rng: b.DefRange(), event: e})
		}
	default:
		r.unknown(b, "host", "run", "event", "laws")
	}
}
