package linux

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/offline"
)

func open(t *testing.T) host.Host {
	t.Helper()
	h, end, err := Open(t.Context())
	ok(t, err)
	t.Cleanup(func() { ok(t, end()) })
	return h
}

func TestOpen(t *testing.T) {
	h := open(t)
	if want := (host.Identity{Live: true, Root: "/", Privileged: os.Geteuid() == 0}); h.Identity != want {
		t.Errorf("the host is %+v, want %+v", h.Identity, want)
	}
	if _, err := h.Files.Stat("/proc/self/stat"); err != nil {
		t.Errorf("the host's files are not this machine's: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := Open(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with an ended context: %v", err)
	}
}

func TestClock(t *testing.T) {
	c := offline.Clock{}
	before := c.Monotonic()
	ok(t, c.Sleep(t.Context(), 10*time.Millisecond))
	if d := c.Monotonic() - before; d < 10*time.Millisecond || d > 5*time.Second {
		t.Errorf("a sleep of 10ms takes %v", d)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.Sleep(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("Sleep with an ended context: %v", err)
	}
	if d := time.Since(c.Now()); d < 0 || d > time.Minute {
		t.Errorf("Now is off by %v", d)
	}
}

func TestStorage(t *testing.T) {
	h, ctx := open(t), t.Context()
	for name, want := range map[string]host.MountState{
		"/proc/self/none": {Point: "/proc", Type: "proc"}, "/proc": {Point: "/proc", Type: "proc"}, "/nonexistent/deep": {Point: "/"},
	} {
		got, err := h.Storage.Mount(ctx, name)
		if err != nil || got.Point != want.Point || want.Type != "" && got.Type != want.Type {
			t.Errorf("%s is on %+v (%v), want %+v", name, got, err, want)
		}
	}
	all, err := h.Storage.Mounts(ctx)
	if err != nil || !slices.ContainsFunc(all, func(m host.MountState) bool { return m.Point == "/proc" && m.Type == "proc" }) {
		t.Errorf("/proc is not among the mounts %+v (%v)", all, err)
	}
	loop := filepath.Join(t.TempDir(), "loop")
	ok(t, os.Symlink("loop", loop))
	if _, err := h.Storage.Mount(ctx, loop); err == nil {
		t.Error("a link that loops is on a mount")
	}
	broken := storage{tree(t, nil), func() ([]mount, error) { return nil, os.ErrPermission }}
	_, oneErr := broken.Mount(ctx, "/")
	_, allErr := broken.Mounts(ctx)
	if !errors.Is(oneErr, os.ErrPermission) || !errors.Is(allErr, os.ErrPermission) {
		t.Errorf("without the kernel's table: %v and %v", oneErr, allErr)
	}
	none := storage{tree(t, nil), func() ([]mount, error) { return nil, nil }}
	if _, err := none.Mount(ctx, "/"); err == nil {
		t.Error("a mount that is not in the table is found")
	}
	ended, end := context.WithCancel(ctx)
	end()
	_, oneErr = h.Storage.Mount(ended, "/")
	_, allErr = h.Storage.Mounts(ended)
	if !errors.Is(oneErr, context.Canceled) || !errors.Is(allErr, context.Canceled) {
		t.Errorf("with an ended context: %v and %v", oneErr, allErr)
	}
}

func TestListeners(t *testing.T) {
	h := open(t)
	exe, err := os.Executable()
	ok(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	want := host.ListenerState{Address: l.Addr().String(), PID: os.Getpid(), Root: "/", Exe: exe}
	all, err := h.Network.Listeners(t.Context())
	if err != nil || !slices.Contains(all, want) {
		t.Errorf("%+v is not among the listeners %+v (%v)", want, all, err)
	}
	ok(t, l.Close())
	all, err = h.Network.Listeners(t.Context())
	if err != nil || slices.Contains(all, want) {
		t.Errorf("a closed listener is still listed (%v)", err)
	}
	if _, err := (network{proc: t.TempDir()}).Listeners(t.Context()); err == nil {
		t.Error("without /proc there are listeners")
	}
}

func TestLinksAndRoutes(t *testing.T) {
	n, ctx := open(t).Network, t.Context()
	links, err := n.Links(ctx)
	if i := slices.IndexFunc(links, func(l host.LinkState) bool { return l.Name == "lo" }); err != nil || i < 0 || links[i].Kind != "" {
		t.Errorf("the links are %+v (%v)", links, err)
	}
	rules, err := n.Rules(ctx)
	if err != nil || !slices.Contains(rules, host.RuleState{Family: host.IPv4, Table: 255}) {
		t.Errorf("the rule for the local table is not among %+v (%v)", rules, err)
	}
	if _, err := n.RouteTables(ctx); err != nil {
		t.Error(err)
	}
	ok(t, n.DeleteLink(ctx, "hostler-none"))
	ok(t, n.DeleteRule(ctx, host.RuleState{Family: host.IPv4, Priority: 4711, Table: 4711}))
	ok(t, n.FlushTable(ctx, host.TableState{Family: host.IPv6, Table: 4711}))
	for _, table := range []int{0, -1} {
		if n.FlushTable(ctx, host.TableState{Family: host.IPv4, Table: table}) == nil {
			t.Errorf("table %d can be flushed", table)
		}
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := n.Links(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestTransport(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	server := &http.Server{Handler: http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound)}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
	ok(t, err)
	res, err := open(t).Network.Transport().RoundTrip(req)
	ok(t, err)
	if res.StatusCode != http.StatusFound || res.Body.Close() != nil {
		t.Errorf("the status is %d: a transport follows no redirects", res.StatusCode)
	}
}

// TestOnThread: what is done to a thread is done to no other.
func TestOnThread(t *testing.T) {
	wrong := errors.New("wrong")
	for range 20 {
		if err := onThread(func() error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestInsideAMachineAreNoMachines(t *testing.T) {
	m := noMachines{}
	_, listErr := m.Registered(t.Context())
	_, hostErr := m.Host(t.Context(), "x")
	_, viewErr := m.View(t.Context(), "x")
	if !errors.Is(listErr, host.ErrNoMachined) || !errors.Is(hostErr, host.ErrNoMachine) || !errors.Is(viewErr, host.ErrNoMachine) || !errors.Is(m.Terminate(t.Context(), "x"), host.ErrNoMachined) {
		t.Errorf("%v, %v and %v", listErr, hostErr, viewErr)
	}
}

func TestRunOwner(t *testing.T) {
	for name, want := range map[string]int{
		"hostler-command-17-abc.service": 17, "hostler-command-x-abc.service": 0, "hostler-command-17.service": 0, "other-17-abc.service": 0, "": 0,
	} {
		pid, found := runOwner(name)
		if found != (want != 0) || found && pid != want {
			t.Errorf("%q is of process %d (%v), want %d", name, pid, found, want)
		}
	}
	if !processExists(os.Getpid()) || processExists(1<<30) {
		t.Error("this process is not there, or one that is not is")
	}
}

func TestMainProcess(t *testing.T) {
	for _, c := range []struct {
		unit   host.UnitState
		code   int
		signal string
	}{
		{host.UnitState{ExecMainCode: 1, ExecMainStatus: 7}, 7, ""},
		{host.UnitState{ExecMainCode: 2, ExecMainStatus: 9}, -1, "SIGKILL"},
		{host.UnitState{ExecMainCode: 3, ExecMainStatus: 6}, -1, "SIGABRT"},
		{host.UnitState{}, -1, ""},
	} {
		if code, signal := mainProcess(c.unit); code != c.code || signal != c.signal {
			t.Errorf("%+v ended with %d %s", c.unit, code, signal)
		}
	}
}
