package interpreter

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"hostler/interpreter/block"
	"hostler/interpreter/eval"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// StatusDocument is s as the status command shows it.
func StatusDocument(s Status) report.Status {
	doc := report.Status{
		FormatVersion: report.FormatVersion, Phase: s.Phase, InstallationID: s.Identity.InstallationID, Recipe: s.Identity.Recipe,
		RecipeVersion: s.Identity.RecipeVersion, Fingerprint: s.Identity.Fingerprint, Prefix: s.Identity.Prefix,
		Unreadable: s.Unreadable, Drift: []report.Drift{}, Pending: []report.Pending{}, Debts: []report.Debt{},
		Provisional: s.Provisional != nil, Diagnostics: report.Diagnostics(s.Warnings, nil),
	}
	if !s.ConfirmUntil.IsZero() {
		doc.ConfirmUntil = &s.ConfirmUntil
	}
	for _, d := range s.Drift {
		doc.Drift = append(doc.Drift, report.DriftOf(d))
	}
	for _, p := range s.Pending {
		doc.Pending = append(doc.Pending, report.Pending{Machine: p.Machine, Needs: p.Needs, Reason: p.Reason})
	}
	for _, d := range s.Debts {
		doc.Debts = append(doc.Debts, report.Debt{Step: d.Step, Unit: d.Unit, Machine: d.Machine, Cause: d.Cause, Reason: d.Reason})
	}
	doc.Daemon = daemonDocument(s.Daemon)
	if r := s.LastRun; r != nil {
		last := report.LastRun(*r)
		doc.LastRun = &last
	}
	return doc
}

// Preflight checks all requirements of the recipe given, or of the one
// installed, and changes nothing. The error is an *UnmetError when one is not
// met. On a complete installation nothing is checked.
func (in *Interpreter) Preflight(ctx context.Context, req Request) (findings []walk.Finding, err error) {
	_, err = in.shadowed(ctx, req, func(ctx context.Context, r *run) error {
		steps, err := r.preflightSteps(ctx, req)
		if err != nil {
			return err
		}
		if findings, err = r.findings(ctx, steps, nil); err != nil {
			return err
		}
		return unmet(findings)
	})
	return findings, err
}

func (r *run) preflightSteps(ctx context.Context, req Request) ([]block.Placed, error) {
	if r.rec != nil && r.rec.Phase == record.Complete {
		return nil, nil
	}
	if req.Recipe == nil && req.Unreadable == nil {
		if errors.Is(r.loadErr, record.ErrAbsent) {
			return nil, record.ErrNotGiven
		}
		if r.rec == nil {
			return nil, r.loadErr
		}
		t, err := r.storedTarget(ctx, r.rec.Target)
		if err != nil {
			return nil, err
		}
		return t.steps, nil
	}
	given, inputs, err := r.identity(req)
	if err != nil {
		return nil, err
	}
	if r.rec == nil {
		r.rec = &record.Record{Phase: record.Installing, Recipe: record.Recipe{Name: given.Recipe}, Fingerprint: given.Fingerprint, Prefix: given.Prefix}
	}
	t, err := r.evaluate(ctx, req, inputs)
	if err != nil {
		return nil, err
	}
	return t.steps, nil
}

// PreflightDocument is findings as the preflight command shows them.
func PreflightDocument(findings []walk.Finding, failed *UnmetError) report.Preflight {
	doc := report.Preflight{FormatVersion: report.FormatVersion, Passed: failed == nil, Findings: []report.Finding{}}
	for _, f := range findings {
		one := report.Finding{Address: f.Address, Status: "ok", Range: rangeOf(f.Placed.Range)}
		u, isUnmet := errors.AsType[*block.Unmet](f.Err)
		switch {
		case f.Err == nil && f.Change.Action == block.ActionUnknown:
			one.Status, one.Summary = "unknown", f.Change.Reason
		case f.Err == nil && f.Change.Needed():
			one.Status, one.Summary = "warning", f.Change.Reason
		case f.Err == nil:
		case errors.Is(f.Err, host.ErrUnknown):
			one.Status, one.Summary = "unknown", f.Err.Error()
		case isUnmet && u.Warning:
			one.Status, one.Summary, one.Advice = "warning", u.Summary, u.Advice
		case isUnmet:
			one.Status, one.Summary, one.Advice = "error", u.Summary, u.Advice
		default:
			one.Status, one.Summary = "error", f.Err.Error()
		}
		switch one.Status {
		case "error":
			doc.ErrorCount++
		case "warning":
			doc.WarningCount++
		}
		doc.Findings = append(doc.Findings, one)
	}
	return doc
}

func rangeOf(r hcl.Range) *report.Range {
	if r.Filename == "" {
		return nil
	}
	return report.RangeOf(r)
}

// OutputDocuments are a recipe's outputs as commands show them.
func OutputDocuments(outputs []eval.Output) (docs []report.Output) {
	for _, o := range outputs {
		doc := report.Output{Name: o.Name, Description: o.Description, Sensitive: o.Sensitive}
		if !o.Sensitive && o.Value != cty.NilVal && o.Value.IsWhollyKnown() {
			// What is wholly known and unmarked is always JSON.
			doc.Value, _ = ctyjson.Marshal(o.Value, o.Value.Type())
		}
		docs = append(docs, doc)
	}
	return docs
}
