package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// bootLimit is how long a boot may take; a second is usual.
const bootLimit = 2 * time.Minute

// life is one boot of a host.
type life struct {
	nspawn *os.Process
	leader int           // the host's init, as seen from here
	ended  chan struct{} // closed when nspawn has ended
	code   int           // nspawn's exit code, once ended
}

// rebootCode is how nspawn ends when the host asked for a reboot.
const rebootCode = 133

// initScript stands in for systemd in a host: the version 1 cgroup
// controllers, which nspawn mounts read-only, become writable, so that
// MemoryMax=, TasksMax= and CPUQuota= in the host hold. It also ties the host
// to nspawn, which would leave it behind when killed.
const initScript = `#!/bin/sh
for c in /sys/fs/cgroup/*; do mountpoint -q "$c" && mount -o remount,rw,bind "$c"; done
exec setpriv --pdeathsig KILL /run/host/lab/systemd "$@"
`

func (r *run) initPath() string { return filepath.Join(r.dir, "init") }

func (r *run) writeInit() error { return os.WriteFile(r.initPath(), []byte(initScript), 0o755) }

// Boot starts the host and waits until it has settled. A host with failed
// units counts as settled; they are logged.
func (h *Host) Boot() {
	h.t.Helper()
	if h.Running() {
		h.t.Fatalf("lab: %s runs already", h.id)
	}
	h.run.boots <- struct{}{}
	defer func() { <-h.run.boots }()
	if err := h.boot(); err != nil {
		h.t.Fatalf("lab: booting %s: %v\n%s", h.id, err, tail(h.Console(), 40))
	}
}

// Start is Boot without waiting for more than the host's first process: the
// host is at the very beginning of its boot.
func (h *Host) Start() {
	h.t.Helper()
	if h.Running() {
		h.t.Fatalf("lab: %s runs already", h.id)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	if _, err := h.start(ctx); err != nil {
		h.t.Fatalf("lab: starting %s: %v\n%s", h.id, err, tail(h.Console(), 40))
	}
}

func (h *Host) boot() error {
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	l, err := h.start(ctx)
	if err != nil {
		return err
	}
	return h.settle(ctx, l)
}

func (h *Host) start(ctx context.Context) (*life, error) {
	if err := unchanged(h.root); err != nil {
		return nil, err
	}
	groups, err := makeGroups(h.id)
	if err != nil {
		return nil, err
	}
	l, err := h.spawn(groups)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.life = l
	h.mu.Unlock()
	leader, err := l.findLeader(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	l.leader = leader
	h.mu.Unlock()
	return l, nil
}

// unchanged checks that a root is a root, not an empty mount point.
func unchanged(root string) error {
	_, err := os.Stat(filepath.Join(root, "usr/lib/systemd/systemd"))
	if err == nil {
		_, err = os.Stat(filepath.Join(root, "var/lib"))
	}
	return err
}

// spawn starts nspawn in the host's cgroups. It dies with this process, and
// the host with it.
func (h *Host) spawn(groups []string) (*life, error) {
	log, err := os.OpenFile(h.console(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	const enterGroups = `for g in $LAB_GROUPS; do echo 0 >"$g/cgroup.procs" || exit 125; done; exec "$@"`
	cmd := exec.Command("/bin/sh", append([]string{"-c", enterGroups, "sh"}, h.nspawnLine()...)...)
	cmd.Env = append(os.Environ(), "SYSTEMD_NSPAWN_LOCK=0", "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network",
		"LAB_GROUPS="+strings.Join(groups, " "))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := h.run.onThread(cmd.Start); err != nil {
		return nil, err
	}
	l := &life{nspawn: cmd.Process, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		l.code = cmd.ProcessState.ExitCode()
		close(l.ended)
	}()
	return l, nil
}

func (h *Host) nspawnLine() []string {
	line := []string{
		"systemd-nspawn", "--quiet", "--directory=" + h.root, "--boot", "--register=no", "--keep-unit",
		"--machine=" + h.id, "--hostname=" + h.options.name(),
		"--capability=all", "--system-call-filter=@mount @keyring bpf add_key", // what an nspawn in the host needs
		"--link-journal=no", "--resolv-conf=off", "--timezone=off", "--console=read-only",
		"--network-namespace-path=/run/netns/" + h.id,
		"--bind-ro=" + h.run.initPath() + ":/usr/lib/systemd/systemd",
		"--bind-ro=" + filepath.Join(h.run.base("host"), "usr/lib/systemd/systemd") + ":/run/host/lab/systemd",
	}
	if h.options.has(NoexecTmp) {
		line = append(line, "--tmpfs=/tmp:mode=1777,noexec,nosuid,nodev")
	}
	return append(line, h.options.Nspawn...)
}

// onThread calls f on the thread that lives as long as this process: what it
// starts gets its parent-death signal when the process dies, not before.
func (r *run) onThread(f func() error) error {
	done := make(chan error, 1)
	r.start <- func() { done <- f() }
	return <-done
}

// serveThread calls what it is sent, all on one thread.
func serveThread(calls <-chan func()) {
	runtime.LockOSThread()
	for f := range calls {
		f()
	}
}

// findLeader waits for the host's init: the child of nspawn that is process 1
// in its own pid namespace.
func (l *life) findLeader(ctx context.Context) (int, error) {
	pid := l.nspawn.Pid
	for {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for _, child := range integers(string(children)) {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", child))
			if isInit(string(status)) {
				return child, nil
			}
		}
		if err := l.pause(ctx); err != nil {
			return 0, err
		}
	}
}

// isInit says whether the text of a /proc/PID/status is that of process 1 of
// a pid namespace below ours.
func isInit(status string) bool {
	for line := range strings.Lines(status) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			ids := integers(numbers)
			return len(ids) > 1 && ids[len(ids)-1] == 1
		}
	}
	return false
}

// pause waits a little, and fails when the boot is over.
func (l *life) pause(ctx context.Context) error {
	select {
	case <-l.ended:
		return fmt.Errorf("systemd-nspawn ended with code %d", l.code)
	case <-ctx.Done():
		return errors.New("it took too long")
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}

// settle waits until the host's systemd has nothing more to do.
func (h *Host) settle(ctx context.Context, l *life) error {
	for {
		out, _ := inside(ctx, l.leader, "systemctl", "is-system-running", "--wait").Output()
		switch string(bytes.TrimSpace(out)) {
		case "running":
			return nil
		case "degraded":
			failed, _ := inside(ctx, l.leader, "systemctl", "list-units", "--failed", "--plain", "--no-legend").Output()
			h.t.Logf("lab: %s has failed units:\n%s", h.id, failed)
			return nil
		}
		if err := l.pause(ctx); err != nil {
			return fmt.Errorf("%w (it said %q)", err, out)
		}
	}
}

// alive is the present boot, or nil when the host is off.
func (h *Host) alive() *life {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.life == nil {
		return nil
	}
	select {
	case <-h.life.ended:
		return nil
	default:
		return h.life
	}
}

// tail is the end of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
