//go:build e2e

package linux_test

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"hostler/interpreter/host"
)

func liveKernel(t *testing.T) {
	h, ctx := openHost(t), t.Context()
	if release, err := h.Kernel.Release(ctx); err != nil || release != shell(t, "uname -r") {
		t.Errorf("the kernel is %q (%v)", release, err)
	}
	version, err := h.Kernel.CgroupVersion(ctx)
	ok(t, err)
	if want := shell(t, "stat -f -c %T /sys/fs/cgroup"); (version == 2) != (want == "cgroup2fs") {
		t.Errorf("cgroups are version %d, /sys/fs/cgroup is %s", version, want)
	}
	if name, err := h.Kernel.Sysctl(ctx, "kernel.hostname"); err != nil || name != shell(t, "hostname") {
		t.Errorf("the host name is %q (%v)", name, err)
	}
	before, err := h.Kernel.Sysctl(ctx, "net.ipv4.ip_forward")
	ok(t, err)
	for _, value := range []string{"1", "0", before} {
		ok(t, h.Kernel.SetSysctl(ctx, "net/ipv4/ip_forward", value))
		if now, err := h.Kernel.Sysctl(ctx, "net.ipv4.ip_forward"); err != nil || now != value {
			t.Errorf("ip_forward is %q (%v), want %s", now, err, value)
		}
	}
	if err := h.Kernel.SetSysctl(ctx, "net.none", "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("setting a key that is not there: %v", err)
	}
	t.Run("mounts", func(t *testing.T) { liveMounts(t, h) })
}

func liveMounts(t *testing.T, h host.Host) {
	ctx := t.Context()
	dir := "/run/x mount"
	ok(t, h.Files.MkdirAll(dir+"/bound", 0o755))
	shell(t, "mount -t tmpfs -o noexec,size=1M none '"+dir+"'; mkdir '"+dir+"/bound'; mount --bind /usr '"+dir+"/bound'; mount -o remount,bind,ro '"+dir+"/bound'")
	m, err := h.Storage.Mount(ctx, dir+"/not/there")
	ok(t, err)
	if m.Point != dir || m.Type != "tmpfs" || !m.NoExec || m.ReadOnly || m.FreeBytes > 1<<20 || m.FreeBytes == 0 {
		t.Errorf("a path on the tmpfs is on %+v", m)
	}
	b, err := h.Storage.Mount(ctx, dir+"/bound/bin")
	ok(t, err)
	if b.Point != dir+"/bound" || !b.ReadOnly || b.NoExec {
		t.Errorf("a path on the bind mount is on %+v", b)
	}
	all, err := h.Storage.Mounts(ctx)
	ok(t, err)
	for _, point := range []string{"/", dir, dir + "/bound"} {
		if !slices.ContainsFunc(all, func(m host.MountState) bool { return m.Point == point }) {
			t.Errorf("%s is not among the mounts", point)
		}
	}
	err = h.Files.RemoveAll(dir)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a tree with mounts can be removed: %v", err)
	}
	for _, point := range []string{dir + "/bound", dir} {
		ok(t, h.Kernel.Unmount(ctx, point))
	}
	if err := h.Kernel.Unmount(ctx, dir); err == nil {
		t.Error("what is not mounted can be unmounted")
	}
	ok(t, h.Files.RemoveAll(dir))
}

func liveNetwork(t *testing.T) {
	h := openHost(t)
	t.Run("links", func(t *testing.T) { liveLinks(t, h) })
	t.Run("rules and routes", func(t *testing.T) { liveRoutes(t, h) })
	t.Run("listeners", func(t *testing.T) { liveListeners(t, h) })
}

func liveLinks(t *testing.T, h host.Host) {
	ctx := t.Context()
	shell(t, "ip link add x-veth type veth peer name x-peer; ip link add x-bridge type bridge; ip link set x-bridge up")
	links, err := h.Network.Links(ctx)
	ok(t, err)
	for _, want := range []host.LinkState{{Name: "x-bridge", Kind: "bridge", Up: true}, {Name: "x-veth", Kind: "veth"}} {
		if !slices.Contains(links, want) {
			t.Errorf("%+v is not among the links %+v", want, links)
		}
	}
	if i := slices.IndexFunc(links, func(l host.LinkState) bool { return l.Name == "lo" }); i < 0 || links[i].Kind != "" {
		t.Errorf("the loopback is not as it should be: %+v", links)
	}
	for _, name := range []string{"x-veth", "x-peer", "x-bridge", "x-none", "x-bridge"} {
		ok(t, h.Network.DeleteLink(ctx, name))
	}
	after, err := h.Network.Links(ctx)
	ok(t, err)
	if slices.ContainsFunc(after, func(l host.LinkState) bool { return strings.HasPrefix(l.Name, "x-") }) {
		t.Errorf("links are left: %+v", after)
	}
}

func liveRoutes(t *testing.T, h host.Host) {
	ctx := t.Context()
	shell(t, `ip link set lo up
for f in -4 -6; do
  ip $f rule add pref 5182 table 51820
  ip $f rule add pref 5182 fwmark 7 table 51820
  ip $f rule add pref 5183 table 51821
  ip $f route add unreachable default table 51820
  ip $f route add blackhole default table 51821
done
ip -4 route add 192.0.2.0/24 dev lo table 51820
ip -6 route add 2001:db8::/32 dev lo table 51820`)
	for _, family := range []host.Family{host.IPv4, host.IPv6} {
		rule, table := host.RuleState{Family: family, Priority: 5182, Table: 51820}, host.TableState{Family: family, Table: 51820}
		for range 2 { // what is gone is no error
			ok(t, h.Network.DeleteRule(ctx, rule))
			ok(t, h.Network.FlushTable(ctx, table))
		}
		rules, err := h.Network.Rules(ctx)
		ok(t, err)
		tables, err := h.Network.RouteTables(ctx)
		ok(t, err)
		if slices.Contains(rules, rule) || slices.Contains(tables, table) {
			t.Errorf("left are %+v and %+v", rules, tables)
		}
		kept, keptTable := host.RuleState{Family: family, Priority: 5183, Table: 51821}, host.TableState{Family: family, Table: 51821}
		if !slices.Contains(rules, kept) || !slices.Contains(tables, keptTable) {
			t.Errorf("another table was touched: %+v and %+v", rules, tables)
		}
		ok(t, h.Network.DeleteRule(ctx, kept))
		ok(t, h.Network.FlushTable(ctx, keptTable))
	}
	if err := h.Network.FlushTable(ctx, host.TableState{Family: host.IPv4}); err == nil {
		t.Error("table 0 can be flushed")
	}
}

func liveListeners(t *testing.T, h host.Host) {
	shell(t, "ip link set lo up")
	exe, err := os.Executable()
	ok(t, err)
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		ok(t, err)
		want := host.ListenerState{Address: l.Addr().String(), PID: os.Getpid(), Root: "/", Exe: exe}
		all, err := h.Network.Listeners(t.Context())
		ok(t, err)
		if !slices.Contains(all, want) {
			t.Errorf("%+v is not among the listeners %+v", want, all)
		}
		ok(t, l.Close())
	}
	server := &http.Server{Handler: http.RedirectHandler("/elsewhere", http.StatusFound)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
	ok(t, err)
	res, err := h.Network.Transport().RoundTrip(req)
	ok(t, err)
	if res.StatusCode != http.StatusFound {
		t.Errorf("the status is %d", res.StatusCode)
	}
	ok(t, res.Body.Close())
}
