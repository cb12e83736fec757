package block

import (
	"errors"
	"fmt"

	"hostler/interpreter/host"
)

// OrUnknown turns an error met while checking into the answer of Check: what
// wraps host.ErrUnknown is an unknown change with its cause, anything else
// stays an error that names the thing.
func OrUnknown(what string, err error) (Change, error) {
	if errors.Is(err, host.ErrUnknown) {
		cause := host.Cause(err)
		if cause == "" {
			cause = err.Error()
		}
		return Unknown(cause), nil
	}
	return Change{}, fmt.Errorf("%s: %w", what, err)
}
