package walk_test

import (
	"testing"

	"hostler/interpreter/thing"
	"hostler/interpreter/walk"
)

// TestErrorsListThings holds that messages name things as a person would.
func TestErrorsListThings(t *testing.T) {
	things := []thing.Key{"path:/etc/a", "unit-active:a.service"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&walk.HeldError{Things: things}, "path:/etc/a, unit-active:a.service: changed behind our back, and on_drift says hold; put it right, or change the recipe"},
		{&walk.ResidueError{Things: things}, "left on the host after the reset: path:/etc/a, unit-active:a.service; the record is kept: remove the cause and run hostler reset again"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
