package walk

import (
	"fmt"
	"strings"

	"hostler/interpreter/thing"
)

// StepError is a fault of one step.
type StepError struct {
	Address string
	Stage   string
	// Reason is the failure_reason of the step, or of the part of it that
	// failed; "" when it says none.
	Reason string
	Err    error
}

func (e *StepError) Error() string { return e.Address + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// HeldError says that drift was found where the recipe says hold.
type HeldError struct{ Things []thing.Key }

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s: changed behind our back, and on_drift says hold; put it right, or change the recipe", listed(e.Things))
}

// listed names things in a message.
func listed(things []thing.Key) string {
	names := make([]string, len(things))
	for i, t := range things {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// NeedsInputError lists sensitive variables whose values are needed because
// what was made of them has to be written. Everything else was done.
type NeedsInputError struct{ Steps, Variables []string }

func (e *NeedsInputError) Error() string {
	return fmt.Sprintf("needs inputs: %s must be written from the sensitive %s, whose value is not stored; give it with --inputs, a credential or its environment variable",
		strings.Join(e.Steps, ", "), strings.Join(e.Variables, ", "))
}
