package fault

import (
	"context"
	"fmt"

	"hostler/interpreter/host"
)

type network struct {
	host.Network
	w wrapper
}

func (n network) DeleteLink(ctx context.Context, name string) error {
	return n.w.run("delete link", name, func() error { return n.Network.DeleteLink(ctx, name) })
}

func (n network) DeleteRule(ctx context.Context, rule host.RuleState) error {
	name := fmt.Sprintf("%s %d table %d", rule.Family, rule.Priority, rule.Table)
	return n.w.run("delete rule", name, func() error { return n.Network.DeleteRule(ctx, rule) })
}

func (n network) FlushTable(ctx context.Context, table host.TableState) error {
	name := fmt.Sprintf("%s %d", table.Family, table.Table)
	return n.w.run("flush table", name, func() error { return n.Network.FlushTable(ctx, table) })
}
