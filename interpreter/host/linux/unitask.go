package linux

import (
	"context"
	"strings"
	"sync"

	systemd "github.com/coreos/go-systemd/v22/dbus"
)

// serviceProperties are those of a service, beside what all units have, that
// tell its state. There are three hundred more.
func serviceProperties() []string {
	return []string{"Type", "Result", "ExecMainCode", "ExecMainStatus", "RemainAfterExit", "NRestarts", "MainPID"}
}

// propertiesOf asks for what all units have, and of a service for the rest that
// tells its state: a third of what there is in all, which the manager has to
// write out and we to read. A unit that changes meanwhile is asked for all in
// one answer, and so is one of another kind.
func propertiesOf(ctx context.Context, c *systemd.Conn, name string) (properties, error) {
	p, err := c.GetUnitPropertiesContext(ctx, name)
	if err != nil {
		return nil, err
	}
	unit := properties(p)
	load := unit.text("LoadState")
	if (load == "masked" || load == "not-found") && unit.text("ActiveState") == "inactive" {
		return unit, nil
	}
	if strings.HasSuffix(unit.text("Id"), ".service") && addService(ctx, c, name, unit) {
		return unit, nil
	}
	return c.GetAllPropertiesContext(ctx, name)
}

// addService adds the properties of a service; false when one was not told, or
// the unit has changed since the others were.
func addService(ctx context.Context, c *systemd.Conn, name string, unit properties) bool {
	names := serviceProperties()
	values := make([]any, len(names))
	var group sync.WaitGroup
	for i, property := range names {
		group.Go(func() {
			if p, err := c.GetUnitTypePropertyContext(ctx, name, "Service", property); err == nil {
				values[i] = p.Value.Value()
			}
		})
	}
	group.Wait()
	for i, property := range names {
		if values[i] == nil {
			return false
		}
		unit[property] = values[i]
	}
	const changed = "StateChangeTimestampMonotonic"
	now, err := c.GetUnitPropertyContext(ctx, name, changed)
	return err == nil && now.Value.Value() == unit[changed]
}
