package block

import "errors"

// reasoned is an error that is reported as a class of its own.
type reasoned struct {
	error
	reason string
}

// Unwrap returns the cause.
func (e *reasoned) Unwrap() error { return e.error }

// Because has a failure of one part of a step reported as a class of its own, in
// place of the step's failure_reason; with "" it is the step's. What the error
// says stays the same.
func Because(reason string, err error) error {
	if reason == "" || err == nil {
		return err
	}
	return &reasoned{err, reason}
}

// Reason is the class that an error of a step is reported as, whose
// failure_reason is otherwise.
func Reason(err error, otherwise string) string {
	if r, ok := errors.AsType[*reasoned](err); ok {
		return r.reason
	}
	return otherwise
}
