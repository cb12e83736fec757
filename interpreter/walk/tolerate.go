package walk

import (
	"errors"

	"hostler/interpreter/host"
)

// tolerableInReset says that a tool is not installed, which only teardown may
// take as proof that what it manages is not there.
func tolerableInReset(err error) bool {
	return errors.Is(err, host.ErrNoMachined) || errors.Is(err, host.ErrNoTool)
}
