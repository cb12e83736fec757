package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"

	"hostler/interpreter"
	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// Failure says how a run failed, and what to do. It is zero for a run that did
// not.
type Failure struct {
	// Stage and Step say where, "" when it was in none.
	Stage, Step string
	// Reason is one word: the step's failure_reason, or the class of the fault.
	Reason string
	// Cause is what went wrong, Advice what to do about it.
	Cause, Advice string
}

// Diagnose says what an error of a run means.
func Diagnose(err error) Failure {
	if err == nil {
		return Failure{}
	}
	f := Failure{Cause: Cause(err)}
	if unmet, ok := errors.AsType[*interpreter.UnmetError](err); ok && len(unmet.Findings) > 0 {
		return f.requirement(unmet)
	}
	class, advice := classify(err)
	f.Reason, f.Advice = class, advice
	step, ok := errors.AsType[*walk.StepError](err)
	if !ok {
		return f
	}
	f.Stage, f.Step, f.Cause = step.Stage, step.Address, step.Err.Error()
	if step.Reason != "" {
		f.Reason = step.Reason
	}
	if f.Advice == "" {
		f.Advice = fmt.Sprintf("look at journalctl HOSTLER_STEP='%s' and hostler history show; when the cause is gone, hostler ensure goes on", f.Step)
	}
	return f
}

// Cause is what an error says, on one line. Of diagnostics it is the first with
// its place, if it has one, and how many there are beside it.
func Cause(err error) string {
	diags, ok := errors.AsType[hcl.Diagnostics](err)
	errs := diags.Errs()
	if !ok || len(errs) == 0 {
		return err.Error()
	}
	first := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError })
	d := diags[first]
	text := d.Summary + ": " + strings.Join(strings.Fields(d.Detail), " ")
	if d.Subject != nil {
		text = fmt.Sprintf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, text)
	}
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// requirement is a requirement that the host does not meet: the first, and the
// others in its cause.
func (f Failure) requirement(unmet *interpreter.UnmetError) Failure {
	first := unmet.Findings[0]
	f.Step, f.Reason, f.Cause = first.Address, "RequirementNotMet", ""
	if first.Placed != nil {
		f.Stage = first.Placed.Stage
		if first.Placed.FailureReason != "" {
			f.Reason = first.Placed.FailureReason
		}
	}
	var causes, advice []string
	for _, found := range unmet.Findings {
		if u, ok := errors.AsType[*block.Unmet](found.Err); ok {
			causes, advice = append(causes, u.Summary), append(advice, u.Advice)
			continue
		}
		causes = append(causes, found.Address+": "+found.Err.Error())
	}
	f.Cause, f.Advice = strings.Join(causes, "; "), strings.Join(advice, "; ")
	if f.Advice == "" {
		f.Advice = "look at hostler preflight"
	}
	return f
}

// class is a class of faults: how to tell it, and what to do about it.
type class struct {
	reason string
	is     func(err error) bool
	advice string
}

// classes are asked in turn.
var classes = [...]class{
	{"Interrupted", is(context.Canceled), "run hostler ensure: what was begun is finished"},
	{"RecipeMissing", is(record.ErrNotGiven), "name one: a directory with recipe.hcl, a .hcl file, or recipe:NAME"},
	{"RecipeInvalid", has[hcl.Diagnostics], "correct the recipe or its inputs; hostler validate shows all of its faults"},
	{"HostNotClean", has[*interpreter.ForeignError], "run hostler reset if that is left from an installation, take it over with hostler adopt, or remove it"},
	{"EditedFiles", has[*walk.EditedError], "save what you need and run hostler reset --discard-edits"},
	{"DriftHeld", has[*walk.HeldError], "put it right, or change the recipe: its on_drift says hold"},
	{"InputsMissing", has[*walk.NeedsInputError], "give the value with --inputs, a credential or its environment variable"},
	{"RecordUnreadable", has[*record.UnreadableError], "run hostler reset, which works without the record"},
	{"ResidueLeft", has[*walk.ResidueError], "remove what holds it, then run hostler reset again"},
	{"ToolMissing", is(host.ErrNoTool), "add the program to the image, or install its package; hostler preflight lists what is needed"},
	{"NoSpace", is(syscall.ENOSPC), "make room on the file system, then run hostler ensure"},
	{"ReadOnly", is(syscall.EROFS), "the path is on a read-only file system: choose another with --prefix or in the recipe"},
	{"TimedOut", is(context.DeadlineExceeded), ""},
	{"NetworkFailed", func(err error) bool { return block.Passing(err) == block.FaultNetwork }, "see that this host reaches the server by name and port, and that the server runs; then run hostler ensure"},
	{"PermissionDenied", is(fs.ErrPermission), ""},
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// classify is the class of an error and what to do about it, "" when only the
// step's own cause can tell.
func classify(err error) (reason, advice string) {
	if refused, ok := errors.AsType[*record.RefusedError](err); ok {
		return "Refused", refused.Advice
	}
	if unit, ok := errors.AsType[*thing.UnitError](err); ok {
		return "UnitFailed", unitAdvice(unit.Unit)
	}
	if job, ok := errors.AsType[*host.JobError](err); ok {
		return "UnitFailed", unitAdvice(job.Unit)
	}
	for _, c := range classes {
		if c.is(err) {
			return c.reason, c.advice
		}
	}
	if exit, ok := errors.AsType[*host.ExitError](err); ok {
		return "CommandFailed", "see why " + exit.Program + " fails, then run hostler ensure"
	}
	return "StepFailed", ""
}

func unitAdvice(unit string) string {
	return fmt.Sprintf("look at systemctl status %s and journalctl -u %s, where it runs; then run hostler ensure", unit, unit)
}
