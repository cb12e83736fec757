package sink_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/sink"
)

func read(t *testing.T, h host.Host, name string) string {
	t.Helper()
	f, err := h.Files.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func tell(t *testing.T, m *memory.Memory, s block.Sink, statuses ...sink.Status) []sink.Fault {
	t.Helper()
	s.Timeout = 10 * time.Second
	var faults []sink.Fault
	for _, status := range statuses {
		faults = append(faults, sink.NewBoard(context.Background(), door(m), []block.Sink{s}).Close(status)...)
	}
	return faults
}

func TestFile(t *testing.T) {
	m := memory.New(memory.Options{Files: map[string]memory.File{"/run/keep": {}}})
	if faults := tell(t, m, block.Sink{File: &block.FileSink{Path: "/run/a/status.json"}}, running("host"), failed); faults != nil {
		t.Fatal(faults)
	}
	var got sink.Status
	if err := json.Unmarshal([]byte(read(t, m.Host(), "/run/a/status.json")), &got); err != nil || got != failed {
		t.Errorf("%v, %+v", err, got)
	}
	if info, err := m.Host().Files.Stat("/run/a/status.json"); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestConsole(t *testing.T) {
	m := memory.New(memory.Options{Files: map[string]memory.File{"/dev/console": {}}})
	bad := failed
	bad.Cause = "a \x1b[31mb\n" + strings.Repeat("ö", 2000)
	if faults := tell(t, m, block.Sink{Console: &block.ConsoleSink{Device: "/dev/console"}}, failed); faults != nil {
		t.Fatal(faults)
	}
	const want = "hostler ensure worker: failed: stage host: command.a: AFailed: exit status 3 more: look at a\r\n"
	if got := read(t, m.Host(), "/dev/console"); got != want {
		t.Errorf("%q", got)
	}
	if line := bad.Line(); len(line) > 1000 || !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\n") || !strings.HasSuffix(line, "…") {
		t.Errorf("%q", line)
	}
	if line := running("host").Line(); line != "hostler ensure worker: running: stage host" {
		t.Error(line)
	}
	if faults := tell(t, m, block.Sink{Label: "c", Console: &block.ConsoleSink{Device: "/dev/none"}}, failed); len(faults) != 1 || faults[0].Sink != "c" {
		t.Errorf("%v", faults)
	}
}

// TestConsoleBegins: of all that is told while a run lasts, a console gets the
// first line.
func TestConsoleBegins(t *testing.T) {
	m := memory.New(memory.Options{Files: map[string]memory.File{"/dev/console": {}}})
	b := sink.NewBoard(context.Background(), door(m), []block.Sink{{Timeout: time.Minute, Console: &block.ConsoleSink{Device: "/dev/console"}}})
	for range 3 {
		b.Tell(running("host"))
		time.Sleep(20 * time.Millisecond)
	}
	b.Close(failed)
	// The memory host's console is a file: each line is written at its start.
	if got := read(t, m.Host(), "/dev/console"); strings.Count(got, "running") > 1 {
		t.Errorf("%q", got)
	}
}

func kvp(key, value string) []byte {
	b := make([]byte, 2560)
	copy(b, key)
	copy(b[512:], value)
	return b
}

// TestKVP: a record is a key of 512 bytes and a value of 2048; those of others
// stay.
func TestKVP(t *testing.T) {
	const pool = "/var/lib/hyperv/.kvp_pool_1"
	sinkOf := block.Sink{Label: "kvp", KVP: &block.KVPSink{Pool: pool, Key: "hostler"}}
	others := append(kvp("first", "1"), kvp("second", "2")...)
	m := memory.New(memory.Options{Files: map[string]memory.File{pool: {Content: string(others)}}})
	const want = "result=failed|reason=AFailed|recipe=worker|stage=host|step=command.a|timestamp=2026-05-01T12:01:00Z|cause=exit status 3 more|advice=look at a"
	if faults := tell(t, m, sinkOf, failed); faults != nil {
		t.Fatal(faults)
	}
	if got := read(t, m.Host(), pool); got != string(others)+string(kvp("hostler", want)) {
		t.Errorf("%d bytes: %q", len(got), strings.ReplaceAll(got, "\x00", ""))
	}
	ok := running("")
	ok.Result, ok.Reason = sink.OK, "Succeeded"
	tell(t, m, sinkOf, ok)
	if got := read(t, m.Host(), pool); got != string(others)+string(kvp("hostler", ok.KVP())) {
		t.Errorf("%d bytes: %q", len(got), strings.ReplaceAll(got, "\x00", ""))
	}
	long := failed
	long.Cause, long.Advice = strings.Repeat("wörd|", 900), strings.Repeat("do ", 900)
	if v := long.KVP(); len(v) > 1022 || !utf8.ValidString(v) || !strings.Contains(v, "|advice=do do") || strings.Contains(v, "wörd|w") {
		t.Errorf("%d bytes: %s", len(v), v)
	}

	damaged := memory.New(memory.Options{Files: map[string]memory.File{pool: {Content: string(bytes.Repeat([]byte("x"), 100))}}})
	if faults := tell(t, damaged, sinkOf, failed); len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), "damaged: 100 bytes") {
		t.Errorf("%v", faults)
	}
	none := memory.New(memory.Options{})
	if faults := tell(t, none, sinkOf, failed); faults != nil {
		t.Errorf("where nobody reads it: %v", faults)
	}
}

// busy is a file system in which somebody else reports into a file whenever we
// are about to.
type busy struct {
	host.Files
	record []byte
}

func (b busy) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if flag&syscall.O_APPEND != 0 {
		f, err := b.Files.OpenFile(name, flag, mode)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(b.record); err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return b.Files.OpenFile(name, flag, mode)
}

// TestKVPBesideOthers: what others report meanwhile stays.
func TestKVPBesideOthers(t *testing.T) {
	const pool = "/var/lib/hyperv/.kvp_pool_1"
	m := memory.New(memory.Options{Files: map[string]memory.File{pool: {}}})
	door := sink.DoorOf(m.Host())
	door.Files = busy{door.Files, kvp("cloud-init", "1")}
	b := sink.NewBoard(context.Background(), door, []block.Sink{{Label: "kvp", Timeout: 5 * time.Second, KVP: &block.KVPSink{Pool: pool, Key: "hostler"}}})
	if faults := b.Close(failed); faults != nil {
		t.Fatal(faults)
	}
	if got := read(t, m.Host(), pool); got != string(kvp("cloud-init", "1"))+string(kvp("hostler", failed.KVP())) {
		t.Errorf("%d bytes: %q", len(got), strings.ReplaceAll(got, "\x00", ""))
	}
}
