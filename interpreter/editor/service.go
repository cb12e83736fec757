package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"hostler/interpreter/block"
	"hostler/interpreter/editor/rpc"
	"hostler/interpreter/lint"
)

// Service is a language service for one client.
type Service struct {
	Linter *lint.Linter
	// Block documents a block type, in Markdown.
	Block func(*block.Type) string
	// Log takes a note for whoever looks into a fault; nil drops it.
	Log func(string)

	grammar   *grammar
	documents *documents
	conn      *rpc.Conn
	// state is how far the life of the connection is.
	state    atomic.Int32
	snippets atomic.Bool
}

// The states of a connection.
const (
	stateNew int32 = iota
	stateRunning
	stateShutdown
	stateExited
)

// ErrNoShutdown is returned when the client went without saying so before.
var ErrNoShutdown = errors.New("the client went without a shutdown request")

// Serve serves a client until it says that it goes. It is called once.
func (s *Service) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s.prepare()
	s.conn = rpc.NewConn(in, out, s)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.checkAll(ctx)
	}()
	ordered := false // shutdown came before the end
	err := s.conn.Run(ctx, func() bool {
		state := s.state.Load()
		ordered = ordered || state == stateShutdown
		return state == stateExited
	})
	cancel()
	<-done
	if err == nil && !ordered {
		err = ErrNoShutdown
	}
	return err
}

func (s *Service) prepare() {
	s.grammar, s.documents = newGrammar(s.Linter.Vocabulary), newDocuments()
}

// checkAll checks documents as they change.
func (s *Service) checkAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.documents.wake:
		}
		for ctx.Err() == nil {
			uri, d, ok := s.documents.next()
			if !ok {
				break
			}
			s.checkOne(uri, d)
		}
	}
}

func (s *Service) checkOne(uri string, d *document) {
	defer s.caught("check of " + uri)
	found := map[string][]Diagnostic{}
	if d != nil {
		found = s.diagnostics(d, s.check(d))
	}
	for _, gone := range s.documents.show(uri, found) {
		s.publish(PublishDiagnostics{URI: gone, Diagnostics: []Diagnostic{}})
	}
	for name, list := range found {
		p := PublishDiagnostics{URI: name, Diagnostics: list}
		if name == uri {
			p.Version = &d.version
		}
		s.publish(p)
	}
}

func (s *Service) publish(p PublishDiagnostics) {
	if err := s.conn.Notify("textDocument/publishDiagnostics", p); err != nil {
		s.note(fmt.Sprintf("publish diagnostics: %v", err))
	}
}

func (s *Service) note(text string) {
	if s.Log != nil {
		s.Log(text)
	}
}

// caught turns a panic into a note: one text that is too much for us must not
// take the editor's whole session away.
func (s *Service) caught(what string) {
	if p := recover(); p != nil {
		s.note(fmt.Sprintf("%s: %v\n%s", what, p, debug.Stack()))
	}
}

// Notify takes a notification.
func (s *Service) Notify(method string, params json.RawMessage) {
	defer s.caught(method)
	if method == "exit" {
		s.state.Store(stateExited)
		return
	}
	if s.state.Load() != stateRunning {
		return
	}
	if err := s.notify(method, params); err != nil {
		s.note(fmt.Sprintf("%s: %v", method, err))
	}
}

func (s *Service) notify(method string, params json.RawMessage) error {
	switch method {
	case "textDocument/didOpen":
		p, err := decode[openParams](params)
		if err == nil {
			s.documents.put(newDocument(s.grammar, p.TextDocument.URI, p.TextDocument.Version, newText(p.TextDocument.Text)))
		}
		return err
	case "textDocument/didChange":
		p, err := decode[changeParams](params)
		d := s.documents.get(p.TextDocument.URI)
		if err != nil || d == nil {
			return err
		}
		s.documents.put(newDocument(s.grammar, d.uri, p.TextDocument.Version, d.changed(p.ContentChanges)))
	case "textDocument/didClose":
		p, err := decode[placeParams](params)
		if err == nil {
			s.documents.close(p.TextDocument.URI)
		}
		return err
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		s.documents.markAll()
	}
	return nil
}
