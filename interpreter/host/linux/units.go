package linux

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	systemd "github.com/coreos/go-systemd/v22/dbus"

	"hostler/interpreter/host"
)

// units is the unit door onto a service manager. commands run where it runs.
type units struct {
	manager  *manager
	commands host.Commands
}

var _ host.Units = units{}

// Manager describes the manager.
func (u units) Manager(ctx context.Context) (host.ManagerState, error) {
	return ask(ctx, u.manager, callTime, func(ctx context.Context, c *systemd.Conn) (host.ManagerState, error) {
		version, err := managerVersion(ctx, c)
		if err != nil {
			return host.ManagerState{}, err
		}
		state, err := c.SystemStateContext(ctx)
		if err != nil {
			return host.ManagerState{}, err
		}
		text, _ := state.Value.Value().(string)
		return host.ManagerState{Version: versionNumber(version), State: text}, nil
	})
}

// managerVersion asks for the version, for which the library takes no context:
// the question that is given up ends with the connection.
func managerVersion(ctx context.Context, c *systemd.Conn) (string, error) {
	var version string
	var err error
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		version, err = c.GetManagerProperty("Version")
	}()
	select {
	case <-answered:
		return version, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// versionNumber reads `"252.39-1~deb12u2"` or `"v257"`: 0 if there is no
// number.
func versionNumber(text string) int {
	text = strings.TrimLeft(text, `"v`)
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	n, _ := strconv.Atoi(text[:end])
	return n
}

// Unit describes one unit, which is loaded for it if need be.
func (u units) Unit(ctx context.Context, name string) (host.UnitState, error) {
	p, err := u.properties(ctx, name)
	if err != nil {
		return host.UnitState{}, err
	}
	state := unitState(p)
	if id, ok := p.job(); ok {
		state.JobType, err = u.jobType(ctx, id)
	}
	return state, err
}

func (u units) properties(ctx context.Context, name string) (properties, error) {
	p, err := ask(ctx, u.manager, callTime, func(ctx context.Context, c *systemd.Conn) (map[string]any, error) {
		return propertiesOf(ctx, c, name)
	})
	return p, wrap("unit "+name, err)
}

// jobType is "" when the job has ended meanwhile.
func (u units) jobType(ctx context.Context, id uint32) (string, error) {
	jobs, err := u.jobs(ctx)
	for _, j := range jobs {
		if j.Id == id {
			return j.JobType, nil
		}
	}
	return "", err
}

func (u units) jobs(ctx context.Context) ([]systemd.JobStatus, error) {
	jobs, err := ask(ctx, u.manager, callTime, func(ctx context.Context, c *systemd.Conn) ([]systemd.JobStatus, error) {
		return c.ListJobsContext(ctx)
	})
	return jobs, wrap("listing the jobs", err)
}

// Reload makes the manager read all unit files again. Its refusal is passed on
// in its own words: units that were started now would be the old ones.
func (u units) Reload(ctx context.Context) error {
	_, err := ask(ctx, u.manager, reloadTime, func(ctx context.Context, c *systemd.Conn) (struct{}, error) {
		return struct{}{}, c.ReloadContext(ctx)
	})
	return wrap("daemon-reload", err)
}

// ResetFailed clears a failed state. That it is denied is an error that is
// fs.ErrPermission; who only means to start the unit may go on.
func (u units) ResetFailed(ctx context.Context, name string) error {
	_, err := ask(ctx, u.manager, callTime, func(ctx context.Context, c *systemd.Conn) (struct{}, error) {
		return struct{}{}, c.ResetFailedUnitContext(ctx, name)
	})
	switch {
	case refusedAs(err, noSuchUnit):
		return nil
	case refusedAs(err, accessDenied, interactive):
		return fmt.Errorf("reset-failed of %s was denied: %w: %w", name, fs.ErrPermission, err)
	}
	return wrap("reset-failed of "+name, err)
}
