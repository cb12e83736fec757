package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hostler/interpreter/editor/rpc"
)

// editorProgram is hostler lsp as an editor runs it.
type editorProgram struct {
	*testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startEditor(t *testing.T) *editorProgram {
	t.Helper()
	p := &editorProgram{T: t, cmd: exec.CommandContext(t.Context(), "hostler", "lsp", "--stdio")}
	var err, err2 error
	p.in, err = p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	p.out = bufio.NewReader(out)
	p.cmd.Stderr = os.Stderr
	if err := errors.Join(err, err2, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *editorProgram) send(m rpc.Message) {
	p.Helper()
	if err := rpc.Write(p.in, m); err != nil {
		p.Fatal(err)
	}
}

// next is the next message of a method, "" for answers; others are passed over.
func (p *editorProgram) next(method string) rpc.Message {
	p.Helper()
	for {
		body, err := rpc.Read(p.out)
		if err != nil {
			p.Fatal(err)
		}
		var m rpc.Message
		if err := json.Unmarshal(body, &m); err != nil {
			p.Fatal(err)
		}
		if m.Method == method {
			return m
		}
	}
}

func (p *editorProgram) code() int {
	p.Helper()
	if _, failed := errors.AsType[*exec.ExitError](p.cmd.Wait()); !failed {
		return 0
	}
	return p.cmd.ProcessState.ExitCode()
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// TestEditorSession holds the program to a session as an editor has it, on the
// files of a recipe and on a text that is not saved yet.
func TestEditorSession(t *testing.T) {
	dir := t.TempDir()
	recipe := "recipe \"a\" {\n  language = 1\n  version = \"1.0.0\"\n  fingerprint = fingerprint({ a = \"1\" })\n  supports \"debian\" {\n    id = \"debian\"\n  }\n}\n\ndirectory \"d\" {\n  path = \"/srv/d\"\n  mode = 0755\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "recipe.hcl"), []byte(recipe), 0o644); err != nil {
		t.Fatal(err)
	}
	uri, err := json.Marshal("file://" + filepath.Join(dir, "recipe.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(recipe)
	p := startEditor(t)
	p.send(rpc.Message{ID: raw("1"), Method: "initialize", Params: raw(`{"processId":null,"rootUri":null,"capabilities":{}}`)})
	if hello := p.next(""); !strings.Contains(string(hello.Result), `"hoverProvider":true`) {
		t.Errorf("hello: %s", hello.Result)
	}
	p.send(rpc.Message{Method: "initialized", Params: raw(`{}`)})
	p.send(rpc.Message{Method: "textDocument/didOpen", Params: raw(`{"textDocument":{"uri":` + string(uri) + `,"languageId":"hostler","version":1,"text":` + string(text) + `}}`)})
	if found := string(p.next("textDocument/publishDiagnostics").Params); !strings.Contains(found, "bare-mode") || !strings.Contains(found, `"start":{"line":11,"character":9}`) {
		t.Errorf("found %s", found)
	}
	p.send(rpc.Message{ID: raw(`"h"`), Method: "textDocument/hover", Params: raw(`{"textDocument":{"uri":` + string(uri) + `},"position":{"line":9,"character":3}}`)})
	if hover := p.next(""); !strings.Contains(string(hover.Result), "A directory with its mode and owner") || string(hover.ID) != `"h"` {
		t.Errorf("hover: %s", hover.Result)
	}
	p.send(rpc.Message{Method: "textDocument/didChange", Params: raw(`{"textDocument":{"uri":` + string(uri) + `,"version":2},"contentChanges":[` +
		`{"range":{"start":{"line":11,"character":9},"end":{"line":11,"character":13}},"text":"\"0755\""}]}`)})
	if found := string(p.next("textDocument/publishDiagnostics").Params); !strings.Contains(found, `"version":2`) || strings.Contains(found, "bare-mode") {
		t.Errorf("found %s", found)
	}
	p.send(rpc.Message{ID: raw("2"), Method: "shutdown"})
	if m := p.next(""); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %+v", m)
	}
	p.send(rpc.Message{Method: "exit"})
	if code := p.code(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "recipe.hcl")); err != nil || string(got) != recipe {
		t.Errorf("the file became %s, %v", got, err)
	}
}

// TestEditorGone: the program ends with its editor, and with a signal.
func TestEditorGone(t *testing.T) {
	p := startEditor(t)
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code := p.code(); code != exitFailed {
		t.Errorf("at the end of input: exit status %d", code)
	}
	p = startEditor(t)
	p.send(rpc.Message{ID: raw("1"), Method: "initialize", Params: raw(`{}`)})
	p.next("")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.code(); code != exitTerminated {
		t.Errorf("after SIGTERM: exit status %d", code)
	}
}
