package linux

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// question is a method call that a fake bus was sent.
type question struct {
	path   dbus.ObjectPath
	method string // the member alone
	args   []any
	// from answers later, or sends signals.
	from *peer
}

// fakeBus is the other end of a D-Bus socket, as much of it as is asked for.
type fakeBus struct {
	t      *testing.T
	socket string
	answer func(q question) ([]any, *dbus.Error)

	mu    sync.Mutex
	peers []*peer
}

// peer is one connection to it.
type peer struct {
	conn net.Conn
	mu   sync.Mutex
}

func newFakeBus(t *testing.T, answer func(q question) ([]any, *dbus.Error)) *fakeBus {
	t.Helper()
	b := &fakeBus{t: t, socket: filepath.Join(t.TempDir(), "bus"), answer: answer}
	l, err := net.Listen("unix", b.socket)
	ok(t, err)
	t.Cleanup(func() { _ = l.Close(); b.hangUp() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p := &peer{conn: conn}
			b.mu.Lock()
			b.peers = append(b.peers, p)
			b.mu.Unlock()
			go b.serve(p)
		}
	}()
	return b
}

// hangUp closes all connections.
func (b *fakeBus) hangUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.peers {
		_ = p.conn.Close()
	}
	b.peers = nil
}

func (b *fakeBus) serve(p *peer) {
	in := bufio.NewReader(p.conn)
	if !greet(p.conn, in) {
		return
	}
	for {
		msg, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		path, _ := msg.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
		method, _ := msg.Headers[dbus.FieldMember].Value().(string)
		go func() {
			body, refusal := b.ask(question{path, method, msg.Body, p})
			p.reply(msg.Serial(), body, refusal)
		}()
	}
}

func (b *fakeBus) ask(q question) ([]any, *dbus.Error) {
	switch q.method {
	case "Hello":
		return []any{":1.1"}, nil
	case "AddMatch":
		return nil, nil
	}
	return b.answer(q)
}

// greet is the server's half of the authentication.
func greet(conn net.Conn, in *bufio.Reader) bool {
	if _, err := in.ReadByte(); err != nil { // the null byte
		return false
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		answer := "ERROR\r\n"
		switch words := strings.Fields(line); {
		case words[0] == "BEGIN":
			return true
		case words[0] == "AUTH" && len(words) == 1:
			answer = "REJECTED EXTERNAL\r\n"
		case words[0] == "AUTH" || words[0] == "DATA":
			answer = "OK 0123456789abcdef0123456789abcdef\r\n"
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return false
		}
	}
}

func (p *peer) reply(serial uint32, body []any, refusal *dbus.Error) {
	msg := &dbus.Message{Type: dbus.TypeMethodReply, Body: body}
	msg.Headers = map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(serial)}
	if refusal != nil {
		msg.Type, msg.Body = dbus.TypeError, refusal.Body
		msg.Headers[dbus.FieldErrorName] = dbus.MakeVariant(refusal.Name)
	}
	p.send(msg)
}

func (p *peer) signal(path dbus.ObjectPath, name string, body ...any) {
	i := strings.LastIndexByte(name, '.')
	p.send(&dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(path), dbus.FieldInterface: dbus.MakeVariant(name[:i]), dbus.FieldMember: dbus.MakeVariant(name[i+1:]),
	}})
}

func (p *peer) send(msg *dbus.Message) {
	if len(msg.Body) > 0 {
		msg.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(msg.Body...))
	}
	var out bytes.Buffer
	if msg.EncodeTo(&out, binary.LittleEndian) != nil {
		_ = p.conn.Close()
		return
	}
	raw := out.Bytes()
	binary.LittleEndian.PutUint32(raw[8:], 1) // the serial, which the library keeps to itself
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.conn.Write(raw)
}

// broadcast sends a signal to all.
func (b *fakeBus) broadcast(path dbus.ObjectPath, name string, body ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.peers {
		p.signal(path, name, body...)
	}
}
