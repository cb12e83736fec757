package operate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter/operate"
)

func TestCauseOfDiagnostics(t *testing.T) {
	at := &hcl.Range{Filename: "site/recipe.hcl", Start: hcl.Pos{Line: 3}}
	placed := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unknown variable", Detail: "There is none.\nDeclare it.", Subject: at}
	nowhere := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Recipe not found", Detail: "stat nope: no such file."}
	warning := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Secret on command line"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{hcl.Diagnostics{nowhere}, "Recipe not found: stat nope: no such file."},
		{hcl.Diagnostics{warning, placed}, "site/recipe.hcl:3: Unknown variable: There is none. Declare it."},
		{fmt.Errorf("wrapped: %w", hcl.Diagnostics{placed, nowhere, nowhere}), "site/recipe.hcl:3: Unknown variable: There is none. Declare it. (and 2 more)"},
	} {
		if got := operate.Cause(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := operate.Diagnose(c.err).Cause; got != c.want {
			t.Errorf("failure: %q, want %q", got, c.want)
		}
	}
}
