package sysctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/thing"
)

// value says what has to change in one value in force. A parameter that does
// not exist is unknown: a module that an earlier step loads may bring it.
func (s *step) value(ctx context.Context, in block.Look, name string) (block.Change, error) {
	now, err := in.View.Kernel.Sysctl(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return block.Unknown(missing(ctx, in.View, name)), nil
	case err != nil:
		return block.OrUnknown("kernel parameter "+name, err)
	}
	if now = thing.SysctlValue(now); now == s.values[name] {
		return block.NoChange(), nil
	}
	return block.Change{
		Action: block.ActionUpdate, Reason: name + " is " + now,
		Diffs: []block.Diff{{Thing: string(thing.Sysctl(name).Key()), Note: now + " -> " + s.values[name]}},
	}, nil
}

func (s *step) set(ctx context.Context, do block.Do, name string) error {
	now, err := do.View.Kernel.Sysctl(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(missing(ctx, do.View, name))
	case err != nil && !errors.Is(err, host.ErrUnknown):
		return err
	case err == nil && thing.SysctlValue(now) == s.values[name]:
		return nil
	}
	if err := do.Host.Kernel.SetSysctl(ctx, name, s.values[name]); err != nil {
		return fmt.Errorf("the kernel does not take the value %q: %w", s.values[name], err)
	}
	return nil
}

// bringers are the modules that bring parameters, by the start of the name.
var bringers = [...]struct{ start, module string }{
	{"net.bridge.", "br_netfilter"},
	{"net.netfilter.nf_conntrack", "nf_conntrack"},
	{"net.nf_conntrack_", "nf_conntrack"},
	{"net.netfilter.nf_flowtable", "nf_flow_table"},
	{"net.netfilter.nf_hooks", "nf_conntrack"},
	{"net.ipv4.vs.", "ip_vs"},
	{"net.mpls.", "mpls_router"},
	{"net.sctp.", "sctp"},
	{"net.tipc.", "tipc"},
	{"net.rds.", "rds"},
	{"net.x25.", "x25"},
	{"sunrpc.", "sunrpc"},
	{"fs.nfs.", "nfs"},
	{"dev.raid.", "md_mod"},
	{"dev.cdrom.", "cdrom"},
}

// missing says why there is no such parameter and what to do.
func missing(ctx context.Context, v host.View, name string) string {
	gone := "there is no kernel parameter " + name + " now: "
	for _, b := range bringers {
		if !strings.HasPrefix(name, b.start) {
			continue
		}
		if loaded, err := v.Kernel.ModuleLoaded(ctx, b.module); err == nil && loaded {
			return gone + "module " + b.module + " is loaded, and this kernel's does not have it; look at the spelling, or leave it out"
		}
		return gone + fmt.Sprintf("module %s brings it; load that before, with kernel_module %q {}", b.module, b.module)
	}
	parts := strings.Split(name, ".")
	switch {
	case strings.HasPrefix(name, "net.ipv6."):
		return gone + "IPv6 may be turned off on the kernel's command line (ipv6.disable=1), or the interface it names is not there"
	case len(parts) > 4 && (parts[2] == "conf" || parts[2] == "neigh"):
		return gone + "the network interface " + strings.ReplaceAll(parts[3], "/", ".") + " is not there"
	}
	return gone + "look at the spelling, or load the module that brings it with kernel_module before"
}
