package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// desk is a handler: "echo" answers its parameters, "wait" waits until it is
// cancelled, "fail" fails; notifications are written down.
type desk struct {
	started chan string
	noted   []string
}

func (d *desk) Notify(method string, params json.RawMessage) {
	d.noted = append(d.noted, method+string(params))
}

func (d *desk) Begin(method string, params json.RawMessage) Work {
	return func(ctx context.Context) (any, error) {
		switch method {
		case "echo":
			return params, nil
		case "wait":
			d.started <- method
			<-ctx.Done()
			return "late", nil
		case "unmarshalable":
			return func() {}, nil
		}
		return nil, Errorf(MethodNotFound, "no %s", method)
	}
}

func framed(bodies ...string) string {
	var out strings.Builder
	for _, b := range bodies {
		fmt.Fprintf(&out, "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s", len(b), b)
	}
	return out.String()
}

// talk sends text to a connection and returns the answers by id, "null" for
// what answers no request.
func talk(t *testing.T, d *desk, text string) (map[string]Message, error) {
	t.Helper()
	var out bytes.Buffer
	err := NewConn(strings.NewReader(text), &out, d).Run(t.Context(), func() bool { return false })
	answers := map[string]Message{}
	for r := bufio.NewReader(&out); ; {
		body, err := Read(r)
		if err != nil {
			break
		}
		var m Message
		if err := json.Unmarshal(body, &m); err != nil || m.Version != "2.0" {
			t.Fatalf("%s: %v", body, err)
		}
		answers[string(m.ID)] = m
	}
	return answers, err
}

func TestAnswers(t *testing.T) {
	d := &desk{}
	answers, err := talk(t, d, framed(
		`{"jsonrpc":"2.0","method":"first","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":[1,2]}`,
		`{"jsonrpc":"2.0","id":"x","method":"nope"}`,
		`{"jsonrpc":"2.0","id":7,"method":"unmarshalable"}`,
		`this is no JSON`,
		`{"jsonrpc":"2.0","id":3,"result":null}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":"nonsense"}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`,
		`{"jsonrpc":"2.0","method":"second"}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.noted, " "); got != `first{"a":1} second` {
		t.Errorf("notifications %q", got)
	}
	if string(answers["1"].Result) != "[1,2]" || answers["1"].Error != nil {
		t.Errorf("echo: %+v", answers["1"])
	}
	for id, code := range map[string]int{`"x"`: MethodNotFound, "7": InternalError, "null": ParseError} {
		if e := answers[id].Error; e == nil || e.Code != code {
			t.Errorf("%s: %+v, want code %d", id, e, code)
		}
	}
	if len(answers) != 4 {
		t.Errorf("answers %v", answers)
	}
}

// TestCancel: a request that is cancelled is answered as such, whatever it
// comes to, and its id may be used again only then.
func TestCancel(t *testing.T) {
	in, client := io.Pipe()
	var out bytes.Buffer
	d := &desk{started: make(chan string)}
	c := NewConn(in, &out, d)
	done := make(chan error)
	go func() { done <- c.Run(t.Context(), func() bool { return false }) }()
	say := func(body string) {
		if _, err := io.WriteString(client, framed(body)); err != nil {
			t.Error(err)
		}
	}
	say(`{"id":1,"method":"wait"}`)
	<-d.started
	say(`{"id":1,"method":"echo"}`)
	say(`{"method":"$/cancelRequest","params":{"id":1}}`)
	say(`{"id":2,"method":"wait"}`)
	<-d.started
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if strings.Count(got, `"code":-32800`) != 2 || !strings.Contains(got, `"code":-32600`) || strings.Contains(got, "late") {
		t.Error(got)
	}
}

func TestFrames(t *testing.T) {
	for text, want := range map[string]string{
		"Content-Length: 2\n\n{}":                      "",
		"content-length:2\r\n\r\n{}":                   "",
		"Content-Length: -1\r\n\r\n":                   "length",
		"Content-Length: 99999999999\r\n\r\n":          "length",
		"X: 1\r\n\r\n":                                 "no Content-Length",
		"nonsense\r\n\r\n":                             "header",
		"A: " + strings.Repeat("x", 5000) + "\r\n\r\n": "header of more than",
		"Content-Length: 5\r\n\r\n{}":                  io.ErrUnexpectedEOF.Error(),
		"Content-Length: 5":                            io.ErrUnexpectedEOF.Error(),
	} {
		_, err := talk(t, &desk{}, text)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

// brokenPipe takes nothing.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEnds(t *testing.T) {
	c := NewConn(strings.NewReader(framed(`{"method":"a"}`)), io.Discard, &desk{})
	if err := c.Notify("x", func() {}); err == nil {
		t.Error("a value that is no JSON was sent")
	}
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewConn(in, io.Discard, &desk{}).Run(ctx, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	c = NewConn(strings.NewReader(framed("{", "{", "{")), brokenPipe{}, &desk{})
	if err := c.Run(t.Context(), func() bool { return false }); err == nil || err.Error() != "broken pipe" {
		t.Errorf("to a broken pipe: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(framed(`{"id":1,"method":"echo"}`)))
	f.Add([]byte("Content-Length: 1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &desk{started: make(chan string, 1000)}
		_ = NewConn(bytes.NewReader(data), io.Discard, d).Run(t.Context(), func() bool { return false })
	})
}
