package lab

import (
	"encoding/binary"
	"net"
	"strings"
)

// Nameserver is the address of the name server that [Host.Resolve] starts, for
// the host's /etc/resolv.conf.
const Nameserver = "127.0.0.53"

// Resolve starts a name server in the host's network: it knows these names and
// their addresses, over all boots until the test ends. Before it is called
// nobody answers there.
func (h *Host) Resolve(names map[string]string) {
	h.t.Helper()
	var conn net.PacketConn
	err := within(h.id, func() (err error) {
		conn, err = net.ListenPacket("udp4", Nameserver+":53")
		return err
	})
	if err != nil {
		h.t.Fatalf("lab: %v", err)
	}
	go serveNames(conn, names)
	h.t.Cleanup(func() { _ = conn.Close() })
}

// serveNames answers until the connection is closed.
func serveNames(conn net.PacketConn, names map[string]string) {
	query := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(query)
		if err != nil {
			return
		}
		if reply := answer(query[:n], names); reply != nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

// The parts of a DNS message that are used here (RFC 1035).
const (
	dnsHeader   = 12
	dnsAnswered = 0x8580 // a reply with authority, recursion desired and available
	dnsNoName   = 3
	dnsAddress  = 1 // type A
)

// answer is the reply to a query of one question, nil when it is none: the
// address of a name, or that there is no such name or no such record.
func answer(query []byte, names map[string]string) []byte {
	name, end := question(query)
	if end == 0 {
		return nil
	}
	reply := append([]byte(nil), query[:end]...)
	flags, answers := uint16(dnsAnswered), uint16(0)
	address := net.ParseIP(names[name]).To4()
	switch {
	case address == nil:
		flags |= dnsNoName
	case binary.BigEndian.Uint16(query[end-4:]) == dnsAddress:
		answers = 1
		// The name by reference to the question, type A, class IN, a minute.
		reply = append(reply, 0xc0, dnsHeader, 0, dnsAddress, 0, 1, 0, 0, 0, 60, 0, 4)
		reply = append(reply, address...)
	}
	for i, word := range []uint16{flags, 1, answers, 0, 0} {
		binary.BigEndian.PutUint16(reply[2+2*i:], word)
	}
	return reply
}

// question is the name that a message asks for, and where the question ends; 0
// when there is none.
func question(query []byte) (name string, end int) {
	if len(query) < dnsHeader || binary.BigEndian.Uint16(query[4:]) != 1 {
		return "", 0
	}
	var labels []string
	at := dnsHeader
	for at < len(query) && query[at] != 0 {
		next := at + 1 + int(query[at])
		if next > len(query) {
			return "", 0
		}
		labels = append(labels, string(query[at+1:next]))
		at = next
	}
	if at+5 > len(query) {
		return "", 0
	}
	return strings.ToLower(strings.Join(labels, ".")), at + 5
}
