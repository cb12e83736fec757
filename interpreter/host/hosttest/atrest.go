package hosttest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

// AtRest runs the contract of the doors of a host that is not running: what
// only a running one knows is refused by name and never taken from the machine
// the program runs on.
func AtRest(t *testing.T, newHost func(t *testing.T) host.Host) {
	for name, run := range map[string]func(*testing.T, host.Host){
		"no manager":      restUnits,
		"unknown":         restUnknown,
		"machines":        restMachines,
		"terminating":     restTerminate,
		"machine names":   restMachineNames,
		"inside machines": restInside,
	} {
		t.Run(name, func(t *testing.T) { run(t, newHost(t)) })
	}
}

func restUnits(t *testing.T, h host.Host) {
	ctx, u := t.Context(), h.Units
	_, manager := u.Manager(ctx)
	_, unit := u.Unit(ctx, "a.service")
	_, log := u.Log(ctx, "a.service", 5)
	_, registered := h.Machines.Registered(ctx)
	for what, err := range map[string]error{
		"Manager": manager, "Unit": unit, "Log": log, "Registered": registered,
		"Reload":      u.Reload(ctx),
		"Run":         u.Run(ctx, host.JobStart, "a.service"),
		"Queue":       u.Queue(ctx, host.JobStop, "a.service"),
		"ResetFailed": u.ResetFailed(ctx, "a.service"),
	} {
		if !errors.Is(err, host.ErrNoManager) {
			t.Errorf("%s: %v, want host.ErrNoManager", what, err)
		}
	}
}

func restUnknown(t *testing.T, h host.Host) {
	ctx := t.Context()
	calls := kernelCalls(ctx, h.Kernel)
	for what, err := range networkCalls(ctx, h.Network) {
		calls[what] = err
	}
	_, calls["Mounts"] = h.Storage.Mounts(ctx)
	_, calls["Run"] = h.Commands.Run(ctx, host.Command{Argv: []string{"true"}})
	for what, err := range calls {
		if !errors.Is(err, host.ErrUnknown) || host.Cause(err) == "" {
			t.Errorf("%s: %v, want an *UnknownError with a cause", what, err)
		}
	}
}

func kernelCalls(ctx context.Context, k host.Kernel) map[string]error {
	_, release := k.Release(ctx)
	_, cgroup := k.CgroupVersion(ctx)
	_, available := k.ModuleAvailable(ctx, "loop")
	_, loaded := k.ModuleLoaded(ctx, "loop")
	_, sysctl := k.Sysctl(ctx, "kernel.hostname")
	_, swaps := k.Swaps(ctx)
	return map[string]error{
		"Release": release, "CgroupVersion": cgroup, "ModuleAvailable": available,
		"ModuleLoaded": loaded, "Sysctl": sysctl, "Swaps": swaps,
		"SetSysctl":  k.SetSysctl(ctx, "kernel.hostname", "x"),
		"LoadModule": k.LoadModule(ctx, "loop"),
		"SwapOff":    k.SwapOff(ctx, "/swap"),
		"SwapOn":     k.SwapOn(ctx, host.SwapArea{Name: "/swap"}),
		"Unmount":    k.Unmount(ctx, "/mnt"),
	}
}

func networkCalls(ctx context.Context, n host.Network) map[string]error {
	_, listeners := n.Listeners(ctx)
	_, links := n.Links(ctx)
	_, rules := n.Rules(ctx)
	_, tables := n.RouteTables(ctx)
	return map[string]error{
		"Listeners": listeners, "Links": links, "Rules": rules, "RouteTables": tables,
		"DeleteLink": n.DeleteLink(ctx, "x"),
		"DeleteRule": n.DeleteRule(ctx, host.RuleState{Family: host.IPv4, Table: 1}),
		"FlushTable": n.FlushTable(ctx, host.TableState{Family: host.IPv4, Table: 1}),
		"Transport":  fetch(ctx, n.Transport()),
	}
}

func fetch(ctx context.Context, tr http.RoundTripper) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:1/", strings.NewReader("body"))
	if err != nil {
		return err
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err
	}
	return errors.Join(errors.New("it answered"), resp.Body.Close())
}

// machine is the name of the machine whose tree the suite makes.
const machine = "hosttest-machine"

// machineTree makes the tree of a machine with a file in it.
func machineTree(t *testing.T, h host.Host) tree {
	t.Helper()
	x := newTree(t, h.Files)
	root := host.MachineRoot(machine)
	x.ok(h.Files.RemoveAll(root))
	x.ok(h.Files.MkdirAll(root+"/etc", 0o755))
	t.Cleanup(func() { x.ok(h.Files.RemoveAll(root)) })
	x.ok(host.Replace(h.Files, root+"/etc/inside", host.Content{Bytes: []byte("inside"), Mode: 0o644}))
	return x
}

func restMachines(t *testing.T, h host.Host) {
	machineTree(t, h)
	in, err := h.Machines.Host(t.Context(), machine)
	if err != nil {
		t.Fatal(err)
	}
	v, err := h.Machines.View(t.Context(), machine)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []host.Identity{in.Identity, v.Identity} {
		if id.Live || id.Machine != machine || id.Privileged != h.Identity.Privileged {
			t.Errorf("the machine is %+v", id)
		}
	}
	restUnits(t, in)
	restUnknown(t, in)
	if _, err := in.Machines.Host(t.Context(), "deeper"); !errors.Is(err, host.ErrNoMachine) {
		t.Errorf("a machine in the machine: %v", err)
	}
}

// restTerminate: nothing runs, so that there is nothing to do, or nobody to ask.
func restTerminate(t *testing.T, h host.Host) {
	if err := h.Machines.Terminate(t.Context(), machine); err != nil && !errors.Is(err, host.ErrNoManager) {
		t.Errorf("Terminate: %v, want nothing or host.ErrNoManager", err)
	}
}

func restMachineNames(t *testing.T, h host.Host) {
	x := newTree(t, h.Files)
	x.ok(h.Files.MkdirAll(host.MachinesDir, 0o700))
	for _, name := range []string{
		"hosttest-none", "", ".", "..", "../machines", "a/b", "a b", "-a", "\x00", "a\n", strings.Repeat("a", 65),
	} {
		_, hostErr := h.Machines.Host(t.Context(), name)
		_, viewErr := h.Machines.View(t.Context(), name)
		if !errors.Is(hostErr, host.ErrNoMachine) || !errors.Is(viewErr, host.ErrNoMachine) {
			t.Errorf("machine %q: %v and %v, want host.ErrNoMachine", name, hostErr, viewErr)
		}
	}
}

// restInside sees that the root of the machine is a root.
func restInside(t *testing.T, h host.Host) {
	x := machineTree(t, h)
	in, err := h.Machines.Host(t.Context(), machine)
	x.ok(err)
	x.write("outside", "outside")
	x.ok(in.Files.MkdirAll(Dir, 0o755))
	y := tree{t, in.Files}
	y.gone("outside")
	y.link("/etc/inside", "absolute")
	y.holds("absolute", "inside")
	y.link("../../../../../../../../etc/inside", "climbing")
	y.holds("climbing", "inside")
	y.link(Dir+"/outside", "out")
	y.write("out", "made inside")
	x.holds("outside", "outside")
	y.holds("outside", "made inside")
	x.ok(host.Replace(in.Files, "/etc/inside", host.Content{Bytes: []byte("changed"), Mode: 0o600}))
	info, err := host.Lstat(h.Files, host.MachineRoot(machine)+"/etc/inside")
	x.ok(err)
	if info.Size() != 7 || host.ModeBits(info.Mode()) != 0o600 {
		t.Errorf("from the host the file is %v %d", info.Mode(), info.Size())
	}
}
