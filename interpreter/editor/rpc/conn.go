package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// Handler answers what the other side sends.
type Handler interface {
	// Notify takes a notification. The next message waits for it.
	Notify(method string, params json.RawMessage)
	// Begin takes a request, before the next message is read, and returns what
	// works it out: so a request sees what was said before it and nothing that
	// was said later.
	Begin(method string, params json.RawMessage) Work
}

// Work works out the answer to a request. ctx ends when it is not wanted any
// more.
type Work func(ctx context.Context) (result any, err error)

// parallel is how many requests are worked on at a time.
const parallel = 4

// Conn is one connection.
type Conn struct {
	handler Handler
	in      *bufio.Reader
	slots   chan struct{}

	writing sync.Mutex
	out     io.Writer
	broken  error // the first error of out

	mu      sync.Mutex
	pending map[string]context.CancelFunc
	running sync.WaitGroup
}

// NewConn is a connection over two streams.
func NewConn(in io.Reader, out io.Writer, handler Handler) *Conn {
	return &Conn{
		handler: handler, in: bufio.NewReaderSize(in, maxHeader), out: out,
		slots: make(chan struct{}, parallel), pending: map[string]context.CancelFunc{},
	}
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.send(Message{Method: method, Params: body})
}

// Run serves until the stream ends, ctx ends, or stop says so after a message;
// then requests in work are cancelled and waited for.
func (c *Conn) Run(ctx context.Context, stop func() bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.running.Wait()
	defer cancel()
	frames := make(chan frame)
	go c.read(ctx, frames)
	for !stop() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-frames:
			if errors.Is(f.err, io.EOF) {
				return c.failed()
			}
			if f.err != nil {
				return f.err
			}
			c.take(ctx, f.body)
		}
		if err := c.failed(); err != nil {
			return err
		}
	}
	return nil
}

// frame is what was read.
type frame struct {
	body []byte
	err  error
}

// read reads frames until one fails. It stays in a read that nothing ends when
// ctx does.
func (c *Conn) read(ctx context.Context, frames chan<- frame) {
	for {
		body, err := Read(c.in)
		select {
		case frames <- frame{body, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (c *Conn) take(ctx context.Context, body []byte) {
	var m Message
	switch err := json.Unmarshal(body, &m); {
	case err != nil:
		c.answer(json.RawMessage("null"), nil, Errorf(ParseError, "the message is no JSON-RPC: %v", err))
	case m.Method == "$/cancelRequest":
		c.cancel(m.Params)
	case m.Method == "":
		// an answer: nothing is ever asked
	case len(m.ID) == 0 || bytes.Equal(m.ID, []byte("null")):
		c.handler.Notify(m.Method, m.Params)
	default:
		c.begin(ctx, m)
	}
}

func (c *Conn) begin(ctx context.Context, m Message) {
	ctx, cancel := context.WithCancel(ctx)
	key := string(m.ID)
	c.mu.Lock()
	_, twice := c.pending[key]
	if !twice {
		c.pending[key] = cancel
	}
	c.mu.Unlock()
	if twice {
		cancel()
		c.answer(m.ID, nil, Errorf(InvalidRequest, "request %s is being worked on already", key))
		return
	}
	work := c.handler.Begin(m.Method, m.Params)
	c.running.Go(func() {
		defer cancel()
		result, err := c.run(ctx, work)
		c.mu.Lock()
		delete(c.pending, key)
		c.mu.Unlock()
		c.answer(m.ID, result, err)
	})
}

func (c *Conn) run(ctx context.Context, work Work) (any, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result, err := work(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, err
}

func (c *Conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.pending[string(p.ID)]; stop != nil {
		stop()
	}
}

// answer sends a result, null for nil, or an error.
func (c *Conn) answer(id json.RawMessage, result any, err error) {
	m := Message{ID: id}
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		m.Result, m.Error = nil, toError(err)
	}
	_ = c.send(m) // kept in broken, which ends the connection
}

func toError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return Errorf(Cancelled, "the request was cancelled")
	}
	return Errorf(InternalError, "%v", err)
}

func (c *Conn) send(m Message) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.broken == nil {
		c.broken = Write(c.out, m)
	}
	return c.broken
}

func (c *Conn) failed() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.broken
}
