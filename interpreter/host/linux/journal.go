package linux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostler/interpreter/host"
)

// journalTime bounds each of the calls of journalctl.
const journalTime = 10 * time.Second

// Log returns the newest lines of the unit's current invocation: what its
// processes wrote and what the manager says about it. A host without
// journalctl has none.
func (u units) Log(ctx context.Context, name string, count int) ([]string, error) {
	state, err := u.Unit(ctx, name)
	if err != nil || state.InvocationID == "" || count <= 0 {
		return nil, err
	}
	// What was written a moment ago may not have arrived; that it cannot be
	// waited for says nothing about what is there.
	_, _ = u.journal(ctx, "--sync")
	text, err := u.journal(ctx, "--quiet", "--no-pager", "--output=cat", "--lines="+strconv.Itoa(count),
		"_SYSTEMD_INVOCATION_ID="+state.InvocationID, "+", "INVOCATION_ID="+state.InvocationID)
	if errors.Is(err, host.ErrNoTool) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the log of %s cannot be read: %w", name, err)
	}
	return lastLines(text, count), nil
}

func (u units) journal(ctx context.Context, args ...string) (string, error) {
	r, err := u.commands.Run(ctx, host.Command{Argv: append([]string{"journalctl"}, args...), Timeout: journalTime})
	return string(r.Stdout), err
}

// lastLines: an entry of the journal may be of several lines.
func lastLines(text string, count int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	return all[max(0, len(all)-count):]
}
