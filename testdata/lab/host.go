package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
)

// Host is a throw-away systemd host, or the disk of one that is off.
type Host struct {
	t       testing.TB
	run     *run
	options Options
	id      string // of the machine, its namespace and its cgroups
	address string
	dir     string
	root    string
	lower   []string // layers below the root, the topmost first

	mu   sync.Mutex
	life *life // nil when off
	down bool
}

// Up makes a host and boots it. It is taken down when the test ends.
func Up(t testing.TB, options Options) *Host {
	t.Helper()
	h := New(t, options)
	h.Boot()
	return h
}

// New makes a host and leaves it off.
func New(t testing.TB, options Options) *Host {
	t.Helper()
	r := of(t)
	t.Cleanup(r.slots.take(t.Name()))
	n := r.hosts.Add(1)
	h := &Host{t: t, run: r, options: options, id: fmt.Sprintf("%s-%04d", r.id, n), address: hostAddress(n)}
	h.dir = filepath.Join(r.dir, h.id)
	h.root = filepath.Join(h.dir, "root")
	t.Cleanup(h.Down)
	if err := h.create(); err != nil {
		t.Fatalf("lab: making a host: %v", err)
	}
	return h
}

func (h *Host) create() error {
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		return err
	}
	var err error
	if h.lower, err = h.run.layers(h.options.Variants); err != nil {
		return err
	}
	if err := h.format(); err != nil {
		return err
	}
	if err := h.mountAll(); err != nil {
		return err
	}
	if err := h.furnish(); err != nil {
		return err
	}
	return h.run.plug(h.id, h.address)
}

// Down ends the host and removes all of it. It is called at the end of the
// test by itself; a second call does nothing. A test that failed gets the end
// of the host's console in its log.
func (h *Host) Down() {
	h.t.Helper()
	if h.down {
		return
	}
	h.down = true
	if h.t.Failed() {
		h.explain()
	}
	if err := h.remove(); err != nil {
		h.t.Errorf("lab: taking %s down: %v", h.id, err)
	}
}

// explain logs what may tell why a test failed.
func (h *Host) explain() {
	h.t.Helper()
	h.t.Logf("lab: end of the console of %s (%s):\n%s", h.options.name(), h.id, tail(h.Console(), 40))
	if h.Running() {
		errs, _ := h.do(nil, "journalctl", "--boot", "--priority=err", "--lines=20", "--no-pager", "--quiet")
		h.t.Logf("lab: errors in its journal:\n%s", errs)
	}
}

func (h *Host) remove() error {
	if err := h.kill(); err != nil {
		return err
	}
	if err := unmountBelow(h.dir); err != nil {
		return err
	}
	if err := removeNamespaces(h.id); err != nil {
		return err
	}
	if err := removeGroups(h.id); err != nil {
		return err
	}
	return removeTree(h.dir)
}

// Root is the path, on the machine the lab runs on, of the host's whole tree,
// whether it runs or not. Absolute links in it lead to that machine's files:
// use [Host.Pull] and [Host.Push] where the host has them.
func (h *Host) Root() string { return h.root }

// Address is the host's address on the lab's network.
func (h *Host) Address() string { return h.address }

// Leader is the process id of the host's init; it fails the test when the
// host is off.
func (h *Host) Leader() int {
	h.t.Helper()
	l := h.alive()
	if l == nil {
		h.t.Fatalf("lab: %s is off", h.id)
	}
	return l.leader
}

// Running says whether the host is on.
func (h *Host) Running() bool { return h.alive() != nil }

// Console is what the host wrote to its console, over all its boots, without
// colours.
func (h *Host) Console() string {
	text, err := os.ReadFile(h.console())
	if err != nil && !os.IsNotExist(err) {
		h.t.Errorf("lab: reading the console: %v", err)
	}
	return regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(string(text), "")
}

func (h *Host) console() string { return filepath.Join(h.dir, "console.log") }

// Packets is how many packets an interface of the host ("eth0", "lo") has sent
// so far: what it receives may be meant for all hosts of the run. A host that
// talks to no one counts none on eth0; one that did may check its neighbour's
// address some seconds later.
func (h *Host) Packets(iface string) int {
	h.t.Helper()
	n, err := packets(h.id, iface)
	if err != nil {
		h.t.Fatalf("lab: counting packets: %v", err)
	}
	return n
}
