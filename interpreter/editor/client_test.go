package editor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostler/builtins"
	"hostler/interpreter/editor"
	"hostler/interpreter/editor/rpc"
	"hostler/interpreter/eval"
	"hostler/interpreter/lint"
	"hostler/interpreter/lint/rules"
	"hostler/interpreter/report"
)

// client talks to a service as an editor does.
type client struct {
	testing.TB
	out     io.WriteCloser
	answers chan rpc.Message
	pushed  chan editor.PublishDiagnostics
	done    chan error
	log     *strings.Builder
	id      int
	// versions are those of the documents, texts what they should read.
	versions map[string]int
}

func newService(log func(string)) *editor.Service {
	return &editor.Service{
		Linter: &lint.Linter{Rules: rules.All(), Vocabulary: builtins.Vocabulary(), Loader: eval.StandardLoader{}, Version: "0.1.0"},
		Block:  report.BlockPage, Log: log,
	}
}

// connect starts a service and says hello to it.
func connect(t testing.TB) *client {
	t.Helper()
	toService, fromClient := io.Pipe()
	toClient, fromService := io.Pipe()
	c := &client{
		TB: t, out: fromClient, answers: make(chan rpc.Message, 100), pushed: make(chan editor.PublishDiagnostics, 1000),
		done: make(chan error, 1), log: &strings.Builder{}, versions: map[string]int{},
	}
	s := newService(func(text string) { c.log.WriteString(text + "\n") })
	go func() {
		err := s.Serve(context.Background(), toService, fromService)
		fromService.Close()
		c.done <- err
	}()
	go c.read(toClient)
	t.Cleanup(c.hangUp)
	return c
}

func start(t testing.TB) *client {
	t.Helper()
	c := connect(t)
	c.call("initialize", `{"capabilities":{"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}}}}`, nil)
	c.notify("initialized", `{}`)
	return c
}

func (c *client) read(in io.Reader) {
	defer close(c.answers)
	for r := bufio.NewReader(in); ; {
		body, err := rpc.Read(r)
		if err != nil {
			return
		}
		var m rpc.Message
		if err := json.Unmarshal(body, &m); err != nil {
			panic(err)
		}
		if m.Method == "textDocument/publishDiagnostics" {
			var p editor.PublishDiagnostics
			if err := json.Unmarshal(m.Params, &p); err != nil {
				panic(err)
			}
			c.pushed <- p
			continue
		}
		c.answers <- m
	}
}

func (c *client) hangUp() {
	if c.out == nil {
		return
	}
	c.Helper()
	c.call("shutdown", `null`, nil)
	c.notify("exit", `null`)
	if err := c.end(); err != nil {
		c.Errorf("the service ended with %v", err)
	}
	if c.log.Len() > 0 {
		c.Errorf("the service noted: %s", c.log)
	}
}

// end waits for the end of the service.
func (c *client) end() error {
	c.out = nil
	select {
	case err := <-c.done:
		return err
	case <-time.After(10 * time.Second):
		c.Fatal("the service does not end")
		return nil
	}
}

func (c *client) send(m rpc.Message) {
	c.Helper()
	if err := rpc.Write(c.out, m); err != nil {
		c.Fatal(err)
	}
}

func (c *client) notify(method, params string) {
	c.Helper()
	c.send(rpc.Message{Method: method, Params: json.RawMessage(params)})
}

// ask sends a request and returns the answer.
func (c *client) ask(method, params string) rpc.Message {
	c.Helper()
	c.id++
	id := json.RawMessage(fmt.Sprint(c.id))
	c.send(rpc.Message{ID: id, Method: method, Params: json.RawMessage(params)})
	select {
	case m := <-c.answers:
		if string(m.ID) != string(id) {
			c.Fatalf("%s: answer to %s", method, m.ID)
		}
		return m
	case <-time.After(10 * time.Second):
		c.Fatalf("%s: no answer", method)
	}
	return rpc.Message{}
}

// call is ask for a request that must succeed.
func (c *client) call(method, params string, result any) {
	c.Helper()
	m := c.ask(method, params)
	if m.Error != nil {
		c.Fatalf("%s: %v", method, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// open opens a document and returns its diagnostics.
func (c *client) open(uri, text string) []editor.Diagnostic {
	c.Helper()
	c.versions[uri] = 1
	c.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%s,"languageId":"hostler","version":1,"text":%s}}`, quoted(uri), quoted(text)))
	return c.diagnostics(uri)
}

// edit replaces a range of a document.
func (c *client) edit(uri string, r editor.Range, text string) {
	c.Helper()
	c.versions[uri]++
	at, _ := json.Marshal(r)
	c.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%s,"version":%d},"contentChanges":[{"range":%s,"text":%s}]}`, quoted(uri), c.versions[uri], at, quoted(text)))
}

// diagnostics waits for those of the newest version of a document.
func (c *client) diagnostics(uri string) []editor.Diagnostic {
	c.Helper()
	for {
		if p := c.push(); p.URI == uri && (p.Version == nil || *p.Version == c.versions[uri]) {
			return p.Diagnostics
		}
	}
}

func (c *client) push() editor.PublishDiagnostics {
	c.Helper()
	select {
	case p := <-c.pushed:
		return p
	case <-time.After(20 * time.Second):
		c.Fatal("no diagnostics")
		return editor.PublishDiagnostics{}
	}
}

// at are the parameters of a request about a place.
func at(uri string, p editor.Position) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%s},"position":{"line":%d,"character":%d}}`, quoted(uri), p.Line, p.Character)
}

// place finds ‸ in a text: the text without it, and where it stood, in UTF-16
// units.
func place(t testing.TB, text string) (string, editor.Position) {
	t.Helper()
	before, after, ok := strings.Cut(text, "‸")
	if !ok {
		t.Fatalf("no ‸ in %q", text)
	}
	line := before[strings.LastIndexByte(before, '\n')+1:]
	n := 0
	for _, r := range line {
		if n++; r > 0xffff {
			n++
		}
	}
	return before + after, editor.Position{Line: strings.Count(before, "\n"), Character: n}
}

// apply makes edits in a text, which must not overlap.
func apply(t testing.TB, text string, edits []editor.TextEdit) string {
	t.Helper()
	offset := func(p editor.Position) int {
		at := 0
		for range p.Line {
			at += strings.IndexByte(text[at:], '\n') + 1
		}
		for n := p.Character; n > 0; {
			r := []rune(text[at:])[0]
			if n--; r > 0xffff {
				n--
			}
			at += len(string(r))
		}
		return at
	}
	for i := len(edits) - 1; i >= 0; i-- {
		from, to := offset(edits[i].Range.Start), offset(edits[i].Range.End)
		text = text[:from] + edits[i].NewText + text[to:]
	}
	return text
}

const head = `recipe "demo" {
  language    = 1
  version     = "1.0.0"
  description = "A demonstration"
  fingerprint = fingerprint({ name = var.name })

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }
}

variable "name" {
  type        = string
  description = "What the host is called"
}

`

func uriIn(dir, name string) string { return "file://" + filepath.Join(dir, name) }
