package linux

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hostler/interpreter/host"
)

// DeleteLink deletes a link.
func (n network) DeleteLink(ctx context.Context, name string) error {
	return n.talk(ctx, func(h *netlink.Handle) error {
		link, err := h.LinkByName(name)
		if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
			return nil
		}
		if err == nil {
			err = h.LinkDel(link)
		}
		return wrap("deleting the network link "+name, unless(err, unix.ENODEV))
	})
}

// DeleteRule deletes every rule that is described so, with all it matches.
func (n network) DeleteRule(ctx context.Context, rule host.RuleState) error {
	return n.talk(ctx, func(h *netlink.Handle) error {
		all, err := h.RuleList(familyNumber(rule.Family))
		for i := range all {
			if err == nil && all[i].Priority == rule.Priority && all[i].Table == rule.Table {
				all[i].Family = familyNumber(rule.Family)
				err = unless(h.RuleDel(&all[i]), unix.ENOENT, unix.ESRCH)
			}
		}
		return wrap(fmt.Sprintf("deleting the %s rule %d for table %d", rule.Family, rule.Priority, rule.Table), err)
	})
}

// FlushTable deletes all routes of a table. Table 0 means any table to the
// kernel, so it is refused.
func (n network) FlushTable(ctx context.Context, table host.TableState) error {
	if table.Table <= 0 {
		return fmt.Errorf("route table %d cannot be flushed: it is none", table.Table)
	}
	return n.talk(ctx, func(h *netlink.Handle) error {
		all, err := routes(h, familyNumber(table.Family), table.Table)
		for i := range all {
			if err == nil {
				err = unless(h.RouteDel(&all[i]), unix.ESRCH, unix.ENODEV)
			}
		}
		return wrap(fmt.Sprintf("flushing the %s route table %d", table.Family, table.Table), err)
	})
}

func familyNumber(f host.Family) int {
	if f == host.IPv6 {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

// unless is err without the errors that say that the thing is gone.
func unless(err error, gone ...error) error {
	for _, g := range gone {
		if errors.Is(err, g) {
			return nil
		}
	}
	return err
}
