package builtins_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"hostler/builtins"
	"hostler/interpreter/block"
	"hostler/interpreter/block/blocktest"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

// lived is a host that somebody has used before: docker runs, it swaps, its
// kernel is tuned.
func lived() memory.Options {
	return memory.Options{
		Files: map[string]memory.File{
			"/etc/fstab":                 {Content: "UUID=1 / ext4 defaults 0 1\nUUID=2\tnone\tswap\tsw\t0\t0\n", Mode: 0o644},
			"/etc/docker/daemon.json":    {Content: "{\n  \"data-root\": \"/srv/docker\",\n  \"iptables\": true\n}\n", Mode: 0o640},
			"/etc/sysctl.d/10-mine.conf": {Content: "vm.swappiness = 40\n"},
		},
		Units: []memory.Unit{
			{Name: "docker.service", Running: true, Enabled: true},
			{Name: "docker.socket", Content: "[Socket]\nListenStream=/run/docker.sock\n[Install]\nWantedBy=sockets.target\n"},
			{Name: "containerd.service", Running: true, Enabled: true},
			{Name: "kubelet.service"},
		},
		Kernel: memory.Kernel{
			Swaps: []string{"/dev/sda2"}, Modules: map[string]bool{"br_netfilter": false},
			Sysctl: map[string]string{"net.ipv4.ip_forward": "0", "vm.overcommit_memory": "0", "vm.swappiness": "60"},
		},
		Network: memory.Network{Links: []host.LinkState{{Name: "eth0", Up: true}}},
	}
}

// preparation is what host preparation does to it.
func preparation() [][2]string {
	masked := func(unit string) [2]string {
		return [2]string{"systemd_unit", "name = \"" + unit + "\"\nmask = true\nstate = \"stopped\"\non_stop_failure = \"warn\""}
	}
	return [][2]string{
		{"sysctl", "path = \"/etc/sysctl.d/99-kubernetes.conf\"\nvalues = { \"net.ipv4.ip_forward\" = 1, \"vm.overcommit_memory\" = 1, \"vm.swappiness\" = 0 }"},
		{"kernel_module", "name = \"br_netfilter\""},
		masked("docker.socket"), masked("docker.service"), masked("containerd.service"), masked("kubelet.service"),
		{"write_file_if_changed", "path = \"/etc/docker/daemon.json\"\nmerge = \"json\"\ncontent = \"{\\\"iptables\\\": false}\""},
		{"swap", ""},
		{"edit_lines", "path = \"/etc/login.defs\"\nensure { line = \"UMASK 027\" }"},
		{"network_link", "name = \"localdns\"\naddresses = [\"169.254.10.10/32\"]"},
		{"ip_rule", "table = 51850\npriority = 100"},
		{"ip_route", "table = 51850\nto = \"10.9.0.0/16\"\nlink = \"localdns\""},
	}
}

// state is what runs, as text.
func state(t *testing.T, h host.Host) []string {
	t.Helper()
	ctx := context.Background()
	var all []string
	add := func(name, value string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+" "+value)
	}
	for _, key := range []string{"net.ipv4.ip_forward", "vm.overcommit_memory", "vm.swappiness"} {
		v, err := h.Kernel.Sysctl(ctx, key)
		add(key, v, err)
	}
	areas, err := h.Kernel.Swaps(ctx)
	for _, area := range areas {
		add("swap", area.Name+" "+strconv.Itoa(area.Priority), err)
	}
	for _, name := range []string{"docker.service", "docker.socket", "containerd.service", "kubelet.service"} {
		u, err := h.Units.Unit(ctx, name)
		add(name, u.LoadState+" "+u.ActiveState, err)
	}
	links, err := h.Network.Links(ctx)
	for _, l := range links {
		add("link", l.Name, err)
	}
	tables, err := h.Network.RouteTables(ctx)
	for range tables {
		add("routes", "", err)
	}
	rules, err := h.Network.Rules(ctx)
	for range rules {
		add("rule", "", err)
	}
	return all
}

// A foreign host is restored: files byte for byte, values, swap, units that ran,
// links and routes.
func TestAForeignHostIsRestored(t *testing.T) {
	h := memory.New(lived()).Host()
	h.Units = blocktest.Reloading(h.Units)
	s := blocktest.NewStage(h)
	before, ran := blocktest.Snapshot(t, h.Files, "/etc", "/usr"), state(t, h)
	vocabulary := builtins.Vocabulary()
	var steps []block.Step
	for _, p := range preparation() {
		typ := vocabulary.Type(p[0])
		if typ == nil {
			t.Fatalf("there is no block %s", p[0])
		}
		step := blocktest.Step(t, typ, p[1])
		s.MustApply(t, step)
		steps = append(steps, step)
	}
	if changed := state(t, h); slices.Equal(changed, ran) {
		t.Fatal("nothing was changed")
	}
	for _, step := range steps {
		s.MustHold(t, step)
	}
	for _, step := range slices.Backward(steps) {
		s.MustReset(t, step)
	}
	if diff := blocktest.Snapshot(t, h.Files, "/etc", "/usr").Restored(before); diff != "" {
		t.Errorf("files differ:\n%s", diff)
	}
	if now := state(t, h); !slices.Equal(now, ran) {
		t.Errorf("after reset\n%q\nbefore\n%q", now, ran)
	}
}
