package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"hostler/interpreter"
	"hostler/interpreter/report"
	"hostler/interpreter/walk"
)

// foresee runs a command on a shadow and shows what it would do, also when a
// step turns out to fail.
func (a *app) foresee(c *cobra.Command, req interpreter.Request, do doing, show func(report.Plan)) (p report.Plan, err error) {
	var events []walk.Event
	var out interpreter.Outcome
	err = a.on(c.Context(), c.Name(), func(in *interpreter.Interpreter) (err error) {
		in.Emit = func(e walk.Event) { events = append(events, e) }
		out, err = do(in, c.Context(), req)
		return err
	})
	p = report.NewPlan(events)
	p.Phase, p.Identity, p.Provisional = out.Phase, out.Identity, out.Provisional != nil
	warnings := append(append(hcl.Diagnostics{}, a.found...), out.Warnings...)
	if a.json() {
		p.Diagnostics = append(report.Diagnostics(warnings, a.sources()), p.Diagnostics...)
		if err != nil && !has[*codeError](err) {
			p.Diagnostics = append(p.Diagnostics, a.faults(err)...)
			a.reported = true
		}
		if !has[*codeError](err) {
			a.document(p)
		}
		return p, err
	}
	if len(warnings) > 0 {
		a.diagnose(warnings)
	}
	switch {
	case err == nil:
		show(p)
	case len(events) > 0:
		show(p.CutShort())
	}
	if p.Provisional {
		a.text().Warning(report.Diagnostic{Severity: "warning", Summary: "Provisional", Detail: out.Provisional.Error()})
	}
	if err != nil && len(p.Actions) > 0 && c.Name() != "verify" {
		err = fmt.Errorf("it would fail: %w", err)
	}
	return p, err
}
