package lint

import (
	"runtime"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/syntax"
)

// Linter checks recipes. It may be used by several goroutines.
type Linter struct {
	Rules      []*Rule
	Vocabulary block.Vocabulary
	Loader     eval.Loader
	// Version is the interpreter's, "" when recipes are not held to it.
	Version string
}

// Input is one recipe to check.
type Input struct {
	Source eval.Source
	// Tested says that the recipe has tests.
	Tested bool
	Config Config
}

// All checks many recipes, several at a time. The results are in the order of
// the inputs.
func (l *Linter) All(inputs []Input) []Result {
	results := make([]Result, len(inputs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				results[i] = l.Lint(inputs[i])
			}
		})
	}
	for i := range inputs {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

// Lint checks one recipe.
func (l *Linter) Lint(in Input) Result {
	p := l.pass(in)
	if !p.Inspection.Broken() {
		for _, r := range l.Rules {
			if r.Check != nil && in.Config.enabled(r) {
				p.rule = r
				r.Check(p)
			}
		}
	}
	return l.conclude(p, in)
}

// pass reads a recipe.
func (l *Linter) pass(in Input) *Pass {
	r, diags := eval.Load(in.Source, l.Vocabulary, l.Loader, l.Version)
	inputs, more := r.Inputs(nil)
	inspection, rest := r.Inspect(inputs)
	p := &Pass{
		Recipe: r, Inspection: inspection, File: r.File(), Vocabulary: l.Vocabulary, Tested: in.Tested, source: in.Source,
		Faults: append(append(diags, more...), rest...),
		assets: map[string]asset{}, texts: map[hcl.Range]Text{},
	}
	p.positions = syntax.NewPositions(p.File.Name, p.File.Bytes)
	return p
}

// conclude turns what the rules and validation found into a result.
func (l *Linter) conclude(p *Pass, in Input) Result {
	s := &suppressions{known: l.names()}
	s.scan(p)
	res := Result{Name: in.Source.Name(), Texts: map[string][]byte{}}
	var kept []Finding
	for _, f := range order(p.findings) {
		if reason, ok := s.answer(f); ok {
			res.Suppressed = append(res.Suppressed, Suppressed{f, reason})
			continue
		}
		kept = append(kept, f)
	}
	kept = append(kept, validation(p, kept)...)
	if r := l.rule(ruleSuppression); r != nil && in.Config.enabled(r) {
		kept = append(kept, s.findings(r, p.Inspection.Broken(), in.Config)...)
	}
	for _, f := range order(kept) {
		if f = in.Config.weigh(f); f.Severity >= in.Config.Minimum {
			res.Findings = append(res.Findings, f)
		}
	}
	p.keepTexts(res)
	return res
}

// followUp is the summary of a fault that follows from another one of its step.
const followUp = "Step cannot be made"

// validation are the faults of validation that no finding says better.
func validation(p *Pass, findings []Finding) []Finding {
	var list []Finding
	for _, d := range p.Faults {
		at := hcl.Range{Filename: p.File.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
		if d.Subject != nil {
			at = *d.Subject
		}
		claimed := slices.ContainsFunc(findings, func(f Finding) bool {
			return len(f.claims) > 0 && (slices.Contains(f.claims, d.Summary) || d.Summary == followUp) && (overlap(f.Range, at) || f.step == at)
		})
		if claimed {
			continue
		}
		f := Finding{Rule: ruleValidate, Severity: Error, Summary: d.Summary, Detail: d.Detail, Range: at}
		if d.Severity == hcl.DiagWarning {
			f.Severity = Warning
		}
		list = append(list, f)
	}
	return list
}

// keepTexts keeps the texts that findings are about.
func (p *Pass) keepTexts(res Result) {
	files := p.Recipe.Files()
	keep := func(name string) {
		if f := files[name]; f != nil {
			res.Texts[name] = f.Bytes
		}
		for _, a := range p.assets {
			if a.err == nil && a.name == name {
				res.Texts[name] = a.bytes
			}
		}
	}
	for _, f := range res.Findings {
		keep(f.Range.Filename)
	}
	for _, f := range res.Suppressed {
		keep(f.Range.Filename)
	}
}

func (l *Linter) rule(name string) *Rule {
	for _, r := range l.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func (l *Linter) names() []string {
	names := make([]string, len(l.Rules))
	for i, r := range l.Rules {
		names[i] = r.Name
	}
	return names
}
