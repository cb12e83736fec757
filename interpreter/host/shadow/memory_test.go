package shadow_test

import (
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/host/shadow"
)

// everything tries every effect of a host, whatever comes of it.
func everything(t *testing.T, h host.Host) {
	t.Helper()
	ctx, f := t.Context(), h.Files
	_ = f.MkdirAll("/etc/a/b", 0o700)
	_ = host.Replace(f, "/etc/a/file", host.Content{Bytes: []byte("x"), Mode: 0o600})
	_ = host.Replace(f, "/etc/os-release", host.Content{Bytes: []byte("x"), Mode: 0o600})
	if file, err := f.OpenFile("/usr/lib/os-release", syscall.O_WRONLY|syscall.O_APPEND, 0); err == nil {
		_, _ = file.WriteString("more")
		_ = file.Truncate(3)
		_ = file.Sync()
		_ = file.Close()
	}
	_ = f.SymlinkIfPossible("x", "/etc/link")
	_ = f.Link("/etc/hosts", "/etc/hosts2")
	_ = f.Rename("/etc", "/etc2")
	_ = f.Chmod("/usr", 0o700)
	_ = f.Chown("/usr", 1, 1)
	_ = f.Lchown("/usr/lib", 1, 1)
	_ = f.Chtimes("/usr", time.Unix(1, 0), time.Unix(1, 0))
	_ = f.SyncTree("/")
	if s, ok := f.(host.Special); ok {
		_ = s.Mknod("/dev0", syscall.S_IFIFO|0o600, 0)
		_ = s.Lsetxattr("/usr", "user.x", []byte("x"))
		_ = s.Lchtimes("/usr", 1)
	}
	f.(host.Unknowable).MarkUnknown("/opt/x", "because")
	for _, verb := range []host.JobVerb{host.JobRestart, host.JobReload, host.JobTryRestart, host.JobStop, host.JobStart} {
		_ = h.Units.Run(ctx, verb, "a.service")
		_ = h.Units.Queue(ctx, verb, "systemd-nspawn@kube1.service")
	}
	_ = h.Units.Reload(ctx)
	_ = h.Units.ResetFailed(ctx, "a.service")
	_ = h.Machines.Terminate(ctx, "kube1")
	_ = h.Kernel.SetSysctl(ctx, "vm.x", "2")
	_ = h.Kernel.LoadModule(ctx, "br_netfilter")
	_ = h.Kernel.SwapOff(ctx, "/swap")
	_ = h.Kernel.SwapOn(ctx, host.SwapArea{Name: "/swap2"})
	_ = h.Kernel.Unmount(ctx, "/tmp")
	_ = h.Network.DeleteLink(ctx, "wg0")
	_ = h.Network.DeleteRule(ctx, host.RuleState{Family: host.IPv4, Priority: 1, Table: 1})
	_ = h.Network.FlushTable(ctx, host.TableState{Family: host.IPv4, Table: 1})
	if r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://api.example/", nil); err == nil {
		if resp, err := h.Network.Transport().RoundTrip(r); err == nil {
			_ = resp.Body.Close()
		}
	}
	_, _ = h.Commands.Run(ctx, host.Command{Argv: []string{"true"}})
	if release, err := h.Locks.Acquire(ctx, host.LockExclusive, host.Holder{PID: 1}); err == nil {
		_ = release()
	}
	_ = h.Clock.Sleep(ctx, time.Hour)
	_ = f.RemoveAll("/usr")
	_ = f.Remove("/sbin")
}

func machineHost() *memory.Memory {
	return memory.New(memory.Options{
		Units:    []memory.Unit{{Name: "a.service", Running: true, Enabled: true}},
		Machines: []memory.Machine{{Name: "kube1", Running: true, Units: []memory.Unit{{Name: "a.service", Running: true}}}},
		Kernel: memory.Kernel{
			Sysctl: map[string]string{"vm.x": "1"}, Modules: map[string]bool{"br_netfilter": false}, Swaps: []string{"/swap"},
		},
		Network: memory.Network{
			Links: []host.LinkState{{Name: "wg0"}}, Rules: []host.RuleState{{Family: host.IPv4, Priority: 1, Table: 1}},
			Tables: []host.TableState{{Family: host.IPv4, Table: 1}},
			HTTP:   map[string]http.Handler{"api.example": http.NotFoundHandler()},
		},
		Mounts: []memory.Mount{{Point: "/tmp"}},
	})
}

// TestPlanTouchesNothing: whatever is done to a shadow and the machine in it,
// no door of the base is asked for a change and nothing of it changes.
func TestPlanTouchesNothing(t *testing.T) {
	m := machineHost()
	before, now := m.Snapshot(), m.Host().Clock.Now()
	s := shadow.Over(m.Host().View())
	in, err := s.Host().Machines.Host(t.Context(), "kube1")
	must(t, err)
	everything(t, in)
	everything(t, s.Host())
	everything(t, in)
	if effects := m.Effects(); len(effects) != 0 {
		t.Errorf("the base was asked for %v", effects)
	}
	if diff := memory.Difference(before, m.Snapshot()); len(diff) != 0 {
		t.Errorf("the base was changed: %q", diff)
	}
	if got := m.Host().Clock.Now(); !got.Equal(now) {
		t.Errorf("the base's clock moved by %v", got.Sub(now))
	}
	kinds := map[string]bool{}
	for _, e := range s.Effects() {
		kinds[e.Kind] = true
	}
	for _, kind := range []string{"write", "mkdir", "rename", "unknown", "restart", "reload", "terminate", "sysctl", "unmount", "delete-link", "run", "lock"} {
		if !kinds[kind] {
			t.Errorf("%s was not noted", kind)
		}
	}
}

// TestPlanForetellsServiceManager does the same to a shadow and to its base,
// afterwards, and compares what both say of the units.
func TestPlanForetellsServiceManager(t *testing.T) {
	m := machineHost()
	plan := steps(t, shadow.Over(m.Host().View()).Host())
	done := steps(t, m.Host())
	if !slices.Equal(plan, done) {
		t.Errorf("foretold:\n%q\nhappened:\n%q", plan, done)
	}
}

func steps(t *testing.T, h host.Host) (log []string) {
	t.Helper()
	for _, h := range []host.Host{h, inside(t, h, "kube1")} {
		note := func(name string) {
			u := unit(t, h, name)
			reloadable := "current"
			if u.NeedDaemonReload {
				reloadable = "stale"
			}
			if u.LoadState != "loaded" {
				u.Type = "" // it means nothing
			}
			log = append(log, u.Name, u.LoadState, u.ActiveState, u.SubState, u.UnitFileState, u.FragmentPath, u.Type, u.Result, reloadable)
		}
		note("a.service")
		note("b.service")
		write(t, h.Files, etc+"b.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/bin/true\n[Install]\nWantedBy=multi-user.target\n")
		write(t, h.Files, etc+"a.service.d/10.conf", "[Service]\nRestart=no\n")
		note("a.service")
		must(t, h.Units.Reload(t.Context()))
		note("a.service")
		must(t, h.Files.MkdirAll(etc+"multi-user.target.wants", 0o755))
		must(t, host.Symlink(h.Files, etc+"b.service", etc+"multi-user.target.wants/b.service"))
		must(t, h.Units.Reload(t.Context()))
		note("b.service")
		run(t, h, host.JobStart, "b.service")
		run(t, h, host.JobRestart, "a.service")
		note("a.service")
		note("b.service")
		run(t, h, host.JobStop, "a.service")
		must(t, host.Symlink(h.Files, "/dev/null", etc+"a.service"))
		must(t, h.Units.Reload(t.Context()))
		note("a.service")
		if err := h.Units.Run(t.Context(), host.JobStart, "a.service"); err == nil {
			t.Error("a masked unit starts")
		}
	}
	must(t, h.Units.Run(t.Context(), host.JobStop, "systemd-nspawn@kube1.service"))
	log = append(log, registered(t, h)...)
	return log
}
