package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
)

func TestKernel(t *testing.T) {
	b := newBox(t, memory.Options{
		Kernel: memory.Kernel{
			Release: "6.6.1", Cgroup: 1, Swaps: []string{"/swapfile", "/dev/zram0"},
			Sysctl:  map[string]string{"vm.panic_on_oom": "1", "net.ipv4.conf.eth0/1.rp_filter": "2"},
			Modules: map[string]bool{"br_netfilter": false, "overlay": true},
		},
		Files: map[string]memory.File{"/etc/fstab": {Content: "/swapfile none swap sw,pri=3 0 0\n# /dev/zram0 none swap\n/dev/vda1 / ext4 ro 0 0\n"}},
	})
	k, ctx := b.Kernel, t.Context()
	release, err := k.Release(ctx)
	b.ok(err)
	cgroup, err := k.CgroupVersion(ctx)
	b.ok(err)
	if release != "6.6.1" || cgroup != 1 {
		t.Errorf("kernel %q, cgroup %d", release, cgroup)
	}
	for key, want := range map[string]string{"vm.panic_on_oom": "1", "vm/panic_on_oom": "1", "net/ipv4/conf/eth0.1/rp_filter": "2"} {
		got, err := k.Sysctl(ctx, key)
		b.ok(err)
		if got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	_, err = k.Sysctl(ctx, "no.key")
	b.is(err, fs.ErrNotExist)
	b.is(k.SetSysctl(ctx, "no.key", "1"), fs.ErrNotExist)
	b.ok(k.SetSysctl(ctx, "vm.panic_on_oom", "0"))
	if got, _ := k.Sysctl(ctx, "vm.panic_on_oom"); got != "0" {
		t.Errorf("set to 0, it is %q", got)
	}
	for name, want := range map[string][2]bool{"br-netfilter": {true, false}, "overlay": {true, true}, "none": {}} {
		available, err := k.ModuleAvailable(ctx, name)
		b.ok(err)
		loaded, err := k.ModuleLoaded(ctx, name)
		b.ok(err)
		if available != want[0] || loaded != want[1] {
			t.Errorf("module %s: available %v, loaded %v", name, available, loaded)
		}
	}
	b.ok(k.LoadModule(ctx, "br_netfilter"))
	b.is(k.LoadModule(ctx, "none"), fs.ErrNotExist)
	swaps := func() string {
		list, err := k.Swaps(ctx)
		b.ok(err)
		return strings.Join(host.SwapNames(list), " ")
	}
	b.ok(k.SwapOff(ctx, "/dev/zram0"))
	b.is(k.SwapOff(ctx, "/dev/zram0"), syscall.EINVAL)
	if swaps() != "/swapfile" {
		t.Errorf("swaps %q", swaps())
	}
	b.ok(k.SwapOn(ctx, host.SwapArea{Name: "/dev/zram0"}))
	b.is(k.SwapOn(ctx, host.SwapArea{Name: "/dev/zram0"}), syscall.EBUSY)
	b.Reboot()
	if loaded, _ := k.ModuleLoaded(ctx, "br_netfilter"); loaded || swaps() != "/swapfile" {
		t.Errorf("after a boot: loaded %v, swaps %q", loaded, swaps())
	}
	if list, _ := k.Swaps(ctx); len(list) != 1 || list[0].Priority != 3 {
		t.Errorf("after a boot swap areas are %v", list)
	}
	if got, _ := k.Sysctl(ctx, "vm.panic_on_oom"); got != "1" {
		t.Errorf("after a boot the value is %q", got)
	}
}

func TestBootReadsItsConfiguration(t *testing.T) {
	b := newBox(t, memory.Options{
		Kernel: memory.Kernel{Sysctl: map[string]string{"a.b": "1", "c.d": "1", "e.f": "1"}, Modules: map[string]bool{"overlay": false}},
	})
	for name, content := range map[string]string{
		"/etc/sysctl.d/20-x.conf": "# comment\na.b = 3\nc/d=4\nno.key=5\n-e.f = 6", "/usr/lib/sysctl.d/20-x.conf": "e.f=9",
		"/usr/lib/sysctl.d/10-y.conf": "a.b=2", "/etc/sysctl.d/readme": "a.b=7", "/etc/modules-load.d/m.conf": "overlay\nnone\n",
	} {
		b.ok(b.Files.MkdirAll(name[:strings.LastIndex(name, "/")], 0o755))
		b.put(name, content)
	}
	b.Reboot()
	for key, want := range map[string]string{"a.b": "3", "c.d": "4", "e.f": "6"} {
		if got, err := b.Kernel.Sysctl(t.Context(), key); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", key, got, err, want)
		}
	}
	if loaded, _ := b.Kernel.ModuleLoaded(t.Context(), "overlay"); !loaded {
		t.Error("modules-load.d does not count")
	}
}

func TestNetwork(t *testing.T) {
	rule := host.RuleState{Family: host.IPv4, Priority: 10, Table: 51820}
	table := host.TableState{Family: host.IPv6, Table: 51820}
	b := newBox(t, memory.Options{Network: memory.Network{
		Listeners: []host.ListenerState{{Address: "0.0.0.0:22", PID: 1}}, Links: []host.LinkState{{Name: "eth0", Up: true}},
		Rules: []host.RuleState{rule}, Tables: []host.TableState{table},
	}})
	n, ctx := b.Network, t.Context()
	b.SetNetwork(func(n *memory.Network) { n.Links = append(n.Links, host.LinkState{Name: "wg51820", Kind: "wireguard"}) })
	count := func() string {
		a, err := n.Listeners(ctx)
		b.ok(err)
		l, err := n.Links(ctx)
		b.ok(err)
		r, err := n.Rules(ctx)
		b.ok(err)
		tb, err := n.RouteTables(ctx)
		b.ok(err)
		return fmt.Sprint(len(a), len(l), len(r), len(tb))
	}
	if count() != "1 2 1 1" {
		t.Errorf("there are %s", count())
	}
	for range 2 { // gone already is no error
		b.ok(n.DeleteLink(ctx, "wg51820"))
		b.ok(n.DeleteRule(ctx, rule))
		b.ok(n.FlushTable(ctx, table))
	}
	if count() != "1 1 0 0" {
		t.Errorf("left are %s", count())
	}
	b.PowerLoss(nil)
	if count() != "1 1 1 1" {
		t.Errorf("after a boot there are %s", count())
	}
}

func TestTransport(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Length", "100")
		case "/missing":
			http.NotFound(w, r)
			return
		}
		w.Header().Set("X-Method", r.Method)
		fmt.Fprint(w, "hello ", string(body))
	})
	b := newBox(t, memory.Options{Network: memory.Network{HTTP: map[string]http.Handler{"a.test": handler, "b.test:81": handler}}})
	client := &http.Client{Transport: b.Network.Transport()}
	tests := map[string]struct {
		method, url, body string
		status            int
		want, err         string
	}{
		"get":          {"GET", "https://a.test/x", "", 200, "hello ", ""},
		"with a port":  {"GET", "http://a.test:5000/x", "", 200, "hello ", ""},
		"port matters": {"GET", "http://b.test:81/x", "", 200, "hello ", ""},
		"another port": {"GET", "http://b.test:82/x", "", 0, "", "no such host"},
		"post":         {"POST", "https://a.test/x", "you", 200, "hello you", ""},
		"head":         {"HEAD", "https://a.test/x", "", 200, "", ""},
		"not found":    {"GET", "https://a.test/missing", "", 404, "404 page not found\n", ""},
		"unknown host": {"GET", "https://c.test/", "", 0, "", "no such host"},
		"broken":       {"GET", "https://a.test/abort", "", 0, "", "broke"},
		"cut":          {"GET", "https://a.test/cut", "", 200, "", "unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var body io.Reader
			if tt.body != "" {
				body = strings.NewReader(tt.body)
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, body)
			b.ok(err)
			resp, err := client.Do(req)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(resp.Body)
				b.ok(resp.Body.Close())
				if resp.StatusCode != tt.status {
					t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
				}
			}
			if tt.err == "" && (err != nil || string(got) != tt.want) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error is %v, want %q", err, tt.err)
			}
		})
	}
	req, err := http.NewRequest(http.MethodGet, "https://c.test/", nil)
	b.ok(err)
	_, err = b.Network.Transport().RoundTrip(req)
	if e, ok := errors.AsType[*net.DNSError](err); !ok || !e.IsNotFound {
		t.Errorf("an unknown host: %v", err)
	}
}

func TestCommands(t *testing.T) {
	var seen memory.Invocation
	var stdin []byte
	b := newBox(t, memory.Options{
		Executables: []string{"tool", "/usr/local/sbin/own", "/mnt/noexec/x"},
		Files:       map[string]memory.File{"/usr/bin/notexec": {}},
		Mounts:      []memory.Mount{{Point: "/mnt/noexec", Type: "ext4", NoExec: true}},
		Programs: map[string]memory.Program{
			"tool": func(i memory.Invocation) host.CommandResult {
				seen = i
				stdin, _ = io.ReadAll(i.Stdin)
				return host.CommandResult{Stdout: []byte("0123456789"), Stderr: []byte("warn")}
			},
			"own": func(memory.Invocation) host.CommandResult {
				return host.CommandResult{ExitCode: 7, Stderr: []byte("a\nbad\n")}
			},
			"x":        func(memory.Invocation) host.CommandResult { return host.CommandResult{} },
			"notthere": func(memory.Invocation) host.CommandResult { return host.CommandResult{} },
		},
	})
	run := func(c host.Command) (host.CommandResult, error) { return b.Commands.Run(t.Context(), c) }
	r, err := run(host.Command{Argv: []string{"tool", "-x"}, Env: []string{"A=b"}, Stdin: strings.NewReader("in"), MaxOutput: 4})
	b.ok(err)
	if string(r.Stdout) != "0123" || string(r.Stderr) != "warn" || string(stdin) != "in" {
		t.Errorf("result %+v, stdin %q", r, stdin)
	}
	if !slices.Equal(seen.Argv, []string{"tool", "-x"}) || !slices.Equal(seen.Env, []string{"A=b"}) || seen.Host.Files == nil {
		t.Errorf("the program saw %+v", seen)
	}
	r, err = run(host.Command{Argv: []string{"/usr/local/sbin/own"}})
	if e, ok := errors.AsType[*host.ExitError](err); !ok || r.ExitCode != 7 || e.Error() != "/usr/local/sbin/own: exit status 7: bad" {
		t.Errorf("a failing program: %+v, %v", r, err)
	}
	_, err = run(host.Command{Argv: []string{"false"}})
	if e, ok := errors.AsType[*host.ExitError](err); !ok || e.Result.ExitCode != 1 {
		t.Errorf("false: %v", err)
	}
	_, err = run(host.Command{Argv: []string{"true"}})
	b.ok(err)
	for _, name := range []string{"notthere", "notexec", "/usr/bin/none", ""} {
		_, err = run(host.Command{Argv: []string{name}})
		b.is(err, host.ErrNoTool)
	}
	_, err = run(host.Command{Argv: []string{"/mnt/noexec/x"}})
	b.is(err, syscall.EACCES)
	_, err = run(host.Command{})
	b.is(err, syscall.EINVAL)
}

func TestCommandEndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	b := newBox(t, memory.Options{Executables: []string{"tool"}, Programs: map[string]memory.Program{
		"tool": func(memory.Invocation) host.CommandResult {
			end()
			return host.CommandResult{Signal: "SIGKILL", Stdout: []byte("so far")}
		}}})
	r, err := b.Commands.Run(ctx, host.Command{Argv: []string{"tool"}})
	b.is(err, context.Canceled)
	if r.ExitCode != -1 || string(r.Stdout) != "so far" {
		t.Errorf("the result is %+v", r)
	}
}

func TestEndedContext(t *testing.T) {
	b := machineBox(t, nil)
	ctx, end := context.WithCancel(t.Context())
	end()
	_, unit := b.Units.Unit(ctx, "a.service")
	_, machines := b.Machines.Registered(ctx)
	_, in := b.Machines.Host(ctx, "kube1")
	_, view := b.Machines.View(ctx, "kube1")
	_, mount := b.Storage.Mount(ctx, "/")
	_, mounts := b.Storage.Mounts(ctx)
	_, links := b.Network.Links(ctx)
	_, release := b.Kernel.Release(ctx)
	_, command := b.Commands.Run(ctx, host.Command{Argv: []string{"true"}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://a.test/", nil)
	b.ok(err)
	_, trip := b.Network.Transport().RoundTrip(req)
	for what, err := range map[string]error{
		"Unit": unit, "Registered": machines, "Host": in, "View": view, "Mount": mount, "Mounts": mounts, "Links": links,
		"Release": release, "Command": command, "RoundTrip": trip, "Terminate": b.Machines.Terminate(ctx, "kube1"),
		"Run": b.Units.Run(ctx, host.JobStart, "a.service"), "Sleep": b.Clock.Sleep(ctx, 1),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	b.is(b.Clock.Sleep(t.Context(), 0), nil)
}

func TestStorageErrors(t *testing.T) {
	b := newBox(t, memory.Options{Files: map[string]memory.File{"/loop": {Link: "loop"}}})
	_, err := b.Storage.Mount(t.Context(), "/loop/x")
	b.is(err, syscall.ELOOP)
	_, err = b.Storage.Mount(t.Context(), "/etc/passwd/x")
	b.is(err, syscall.ENOTDIR)
}

func TestFactsCanBeRead(t *testing.T) {
	b := machineBox(t, func(o *memory.Options) { o.Hostname = "node-1"; o.Systemd = 257 })
	f, err := host.ReadFacts(t.Context(), b.View())
	b.ok(err)
	if f.Hostname != "node-1" || f.Systemd != 257 || f.Kernel != "6.1.0" || f.OS.ID != "debian" {
		t.Errorf("the facts are %+v", f)
	}
	in, err := b.within("kube1").Kernel.Sysctl(t.Context(), "kernel.hostname")
	b.ok(err)
	if in != "kube1" {
		t.Errorf("inside, the host name is %q", in)
	}
}
