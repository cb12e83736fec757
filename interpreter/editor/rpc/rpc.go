// Package rpc carries JSON-RPC 2.0 messages over a pair of streams, framed by
// headers as the Language Server Protocol has them: requests run side by side
// and can be cancelled, notifications one after the other in the order sent.
//
// A message that cannot be read is answered with an error and passed over; only
// the end of the stream, or a frame that is none, ends a connection.
package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
)

// MaxMessage is the largest message that is read, in bytes.
const MaxMessage = 32 << 20

// Codes of errors, those of JSON-RPC and of the protocol.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	NotInitialized = -32002
	Cancelled      = -32800
	RequestFailed  = -32803
)

// Error is an error that the other side is told.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an error with a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Message is a request, a notification or a response.
type Message struct {
	Version string `json:"jsonrpc"`
	// ID is absent in notifications.
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// ErrFrame is returned for bytes that are no frame, after which nothing can be
// read any more.
var ErrFrame = errors.New("this is no frame of the protocol")

// Read reads the body of one frame. io.EOF is the end between two frames.
func Read(r *bufio.Reader) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	size := -1
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%w: header %q", ErrFrame, line)
		}
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Length" {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || size < 0 || size > MaxMessage {
				return nil, fmt.Errorf("%w: length %q", ErrFrame, value)
			}
		}
	}
	if size < 0 {
		return nil, fmt.Errorf("%w: no Content-Length", ErrFrame)
	}
	body := make([]byte, size)
	_, err := io.ReadFull(r, body)
	return body, err
}

// maxHeader bounds one header line, in bytes.
const maxHeader = 4096

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxHeader:
		return "", fmt.Errorf("%w: a header of more than %d bytes", ErrFrame, maxHeader)
	case errors.Is(err, io.EOF):
		return "", io.ErrUnexpectedEOF
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// Write writes one frame.
func Write(w io.Writer, m Message) error {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}
