package linux

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"

	"hostler/interpreter/host"
)

// Listeners lists listening TCP sockets of both families and who holds them.
func (n network) Listeners(ctx context.Context) ([]host.ListenerState, error) {
	var sockets []socket
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		text, err := os.ReadFile(path.Join(n.proc, file))
		if errors.Is(err, fs.ErrNotExist) && file == "net/tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("listing the listening sockets: %w", err)
		}
		sockets = append(sockets, listening(string(text))...)
	}
	if err := ctx.Err(); err != nil || len(sockets) == 0 {
		return nil, err
	}
	holders := socketHolders(sockets)
	look := newProcesses()
	states := make([]host.ListenerState, len(sockets))
	for i, s := range sockets {
		states[i] = host.ListenerState{Address: s.address, PID: holders[s.inode]}
		if states[i].PID != 0 {
			states[i].Root, states[i].Exe = look.owner(states[i].PID)
		}
	}
	return states, nil
}

// socket is a line of /proc/net/tcp.
type socket struct {
	address string
	inode   string
}

// listening are the sockets in state 0A (TCP_LISTEN) of /proc/net/tcp or tcp6,
// see proc_pid_net(5). Lines that are not what they should be are left out.
func listening(text string) []socket {
	var found []socket
	for _, line := range lines(text) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != "0A" {
			continue
		}
		if address, ok := kernelAddress(f[1]); ok {
			found = append(found, socket{address.String(), f[9]})
		}
	}
	return found
}

// kernelAddress reads "0100007F:1F90": the address in 32-bit words of the
// machine's byte order, the port in network order.
func kernelAddress(s string) (netip.AddrPort, bool) {
	words, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(words)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	address, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(address, uint16(number)), ok
}

// socketHolders finds the process that has each socket open, by inode. Of
// several that share one it is the oldest. What cannot be looked at is left
// out: it may belong to another user, or have ended meanwhile.
func socketHolders(sockets []socket) map[string]int {
	wanted := map[string]string{}
	for _, s := range sockets {
		wanted["socket:["+s.inode+"]"] = s.inode
	}
	holders := map[string]int{}
	for _, pid := range processIDs() {
		dir := path.Join("/proc", strconv.Itoa(pid), "fd")
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			target, err := os.Readlink(path.Join(dir, f.Name()))
			if inode, ok := wanted[target]; err == nil && ok && holders[inode] == 0 {
				holders[inode] = pid
			}
		}
	}
	return holders
}

// processIDs are those of all processes, smallest first.
func processIDs() []int {
	dir, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var ids []int
	for _, d := range dir {
		if id, err := strconv.Atoi(d.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
