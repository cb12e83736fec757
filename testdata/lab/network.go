package lab

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The network of a run: one namespace with a switch, one namespace for each
// host with an eth0 on it. There is no way out of it. Runs do not see each
// other, so all use the same addresses.
const (
	switchAddress = "10.77.0.1"
	prefixLength  = "/16"
)

// hostAddress is the address of a run's n-th host, n from 1.
func hostAddress(n int64) string {
	return fmt.Sprintf("10.77.%d.%d", 1+n/250, 2+n%250)
}

// wire makes the run's switch unless it is there. It has a hardware address of
// its own: one that it takes from a host changes when that goes, and the others
// would not find it before their ARP entries expire.
func (r *run) wire() error {
	r.network.Lock()
	defer r.network.Unlock()
	if r.wired {
		return nil
	}
	if err := command("ip", "netns", "add", r.id); err != nil {
		return err
	}
	err := ip(r.id, "link set lo up",
		"link add br0 address 02:4c:41:42:00:01 type bridge mcast_snooping 0", "link set br0 addrgenmode none",
		"address add "+switchAddress+prefixLength+" dev br0", "link set br0 up",
		"route add unreachable default")
	r.wired = err == nil
	return err
}

// plug makes a host's network namespace, on the switch. Link-local addresses
// are off, so that the kernel itself sends nothing and packets can be counted.
func (r *run) plug(id, address string) error {
	if err := r.wire(); err != nil {
		return err
	}
	if err := command("ip", "netns", "add", id); err != nil {
		return err
	}
	peer := "v" + id[strings.LastIndexByte(id, '-')+1:]
	if err := ip(id, "link set lo up", "link add eth0 type veth peer name "+peer+" netns "+r.id, "link set eth0 addrgenmode none"); err != nil {
		return err
	}
	if err := ip(r.id, "link set "+peer+" addrgenmode none", "link set "+peer+" master br0 up"); err != nil {
		return err
	}
	return ip(id, "address add "+address+prefixLength+" dev eth0", "link set eth0 up", "route add unreachable default")
}

// ip runs ip commands in a namespace.
func ip(namespace string, lines ...string) error {
	for _, line := range lines {
		if err := command("ip", append([]string{"-n", namespace}, strings.Fields(line)...)...); err != nil {
			return err
		}
	}
	return nil
}

// within calls f on a thread of its own in a network namespace. What f opens
// stays in it.
func within(namespace string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		done <- enterAnd(namespace, f)
	}()
	return <-done
}

func enterAnd(namespace string, f func() error) error {
	ns, err := os.Open(filepath.Join("/run/netns", namespace))
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering the network namespace %s: %w", namespace, err)
	}
	return f()
}

// listen opens a TCP port on the switch, a free one when port is 0.
func (r *run) listen(port int) (net.Listener, error) {
	if err := r.wire(); err != nil {
		return nil, err
	}
	var l net.Listener
	err := within(r.id, func() (err error) {
		l, err = net.Listen("tcp4", fmt.Sprintf("%s:%d", switchAddress, port))
		return err
	})
	return l, err
}

// packets reads how many packets an interface sent.
func packets(namespace, iface string) (n int, err error) {
	err = within(namespace, func() error {
		text, err := os.ReadFile("/proc/thread-self/net/dev")
		if err != nil {
			return err
		}
		n, err = countPackets(string(text), iface)
		return err
	})
	return n, err
}

// countPackets finds an interface in the text of /proc/net/dev.
func countPackets(text, iface string) (int, error) {
	for line := range strings.Lines(text) {
		name, counters, ok := strings.Cut(line, ":")
		if n := integers(counters); ok && strings.TrimSpace(name) == iface && len(n) == 16 {
			return n[9], nil // bytes and packets received … bytes and packets sent
		}
	}
	return 0, fmt.Errorf("there is no interface %s", iface)
}

// Dial connects to a TCP address of a host from the lab's network, as another
// machine does.
func Dial(t testing.TB, address string) (net.Conn, error) {
	t.Helper()
	r := of(t)
	var conn net.Conn
	err := within(r.id, func() (err error) {
		conn, err = net.DialTimeout("tcp4", address, 5*time.Second)
		return err
	})
	return conn, err
}

// Listen opens a TCP port on an address of the host, in this process: in the
// host it is taken, and by no process that can be seen there. It is closed
// when the test ends.
func (h *Host) Listen(address string) {
	h.t.Helper()
	var l net.Listener
	err := within(h.id, func() (err error) {
		l, err = net.Listen("tcp4", address)
		return err
	})
	if err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	h.t.Cleanup(func() { _ = l.Close() })
}
