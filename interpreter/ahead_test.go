package interpreter_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/record"
	"hostler/interpreter/thing"
)

// depot serves files and notes what it is asked for.
type depot struct {
	mu    sync.Mutex
	asked []string
	came  chan string
	slow  chan struct{} // closed when answers may go out, nil for at once
}

func (d *depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.asked = append(d.asked, r.URL.Path)
	d.mu.Unlock()
	d.came <- r.URL.Path
	if d.slow != nil {
		select {
		case <-d.slow:
		case <-r.Context().Done():
			return
		}
	}
	_, _ = w.Write([]byte("content of " + r.URL.Path))
}

func (d *depot) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(slices.Values(d.asked))
}

func depotDigest(path string) string {
	return strings.TrimPrefix(thing.Digest([]byte("content of "+path)), "sha256:")
}

// fetching has a step that waits, before two downloads and one that moves.
func fetching() string {
	step := func(name, how string) string {
		return "download \"" + name + "\" {\n url = \"https://depot.example/" + name + "\"\n " + how + "\n path = \"/srv/" + name + "\"\n}\n"
	}
	return "command \"work\" { argv = [\"work\"] }\n" + step("one", "sha256 = \""+depotDigest("/one")+"\"") + step("two", "sha256 = \""+depotDigest("/two")+"\"") + step("moving", "mutable = true")
}

func fetchingRig(t *testing.T, d *depot, work func() string) *rig {
	r := newRig(t, memory.Options{
		Executables: []string{"work"}, Network: memory.Network{HTTP: map[string]http.Handler{"depot.example": d}},
		Programs: map[string]memory.Program{"work": func(memory.Invocation) host.CommandResult {
			if why := work(); why != "" {
				return host.CommandResult{ExitCode: 1, Stderr: []byte(why)}
			}
			return host.CommandResult{}
		}},
	})
	return r
}

// fetch is a verb that fetches ahead. It goes past the counting of effects,
// which lets one happen at a time.
func (r *rig) fetch(do verb) verb {
	return func(in *interpreter.Interpreter, ctx context.Context, req interpreter.Request) (interpreter.Outcome, error) {
		in.Ahead, in.Host = true, r.Host()
		return do(in, ctx, req)
	}
}

// TestFetchedAhead: while a step is at work the downloads of later ones are
// fetched, once each; nothing is asked for before the record is there, nor on a
// host that has it all.
func TestFetchedAhead(t *testing.T) {
	d := &depot{came: make(chan string, 10)}
	var r *rig
	worked := false
	r = fetchingRig(t, d, func() string {
		if worked {
			return ""
		}
		worked = true
		if _, err := host.Lstat(r.Memory.Host().Files, record.File); err != nil {
			return "there is no record: " + err.Error()
		}
		for range 2 {
			select {
			case <-d.came:
			case <-time.After(10 * time.Second):
				return "nothing is fetched ahead"
			}
		}
		return ""
	})
	r.must(r.fetch(apply), a(fetching()))
	if got := d.requests(); !slices.Equal(got, []string{"/moving", "/one", "/two"}) {
		t.Errorf("asked for %v", got)
	}
	for _, name := range []string{"one", "two", "moving"} {
		r.want("/srv/"+name, "content of /"+name)
	}
	r.must(r.fetch(ensure), nothing)
	r.must(plan, a(fetching()))
	if got := d.requests(); len(got) != 3 {
		t.Errorf("asked again: %v", got)
	}
}

// TestFetchingAheadEnds: a run that fails does not wait for what it fetches
// ahead, and leaves nothing that is taken for done.
func TestFetchingAheadEnds(t *testing.T) {
	d := &depot{came: make(chan string, 10), slow: make(chan struct{})}
	r := fetchingRig(t, d, func() string { <-d.came; return "it fails" })
	began := time.Now()
	if _, err := r.run(r.fetch(apply), a(fetching())); err == nil || !strings.Contains(err.Error(), "it fails") {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	for name, e := range r.Standing() {
		if strings.Contains(name, "/cache/sha256/") && !strings.HasSuffix(name, ".partial") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	close(d.slow)
}

// TestFetchingAheadIsInterrupted: a step that waits for what is fetched ahead
// ends with its timeout, and with the run.
func TestFetchingAheadIsInterrupted(t *testing.T) {
	d := &depot{came: make(chan string, 10), slow: make(chan struct{})}
	defer close(d.slow)
	r := fetchingRig(t, d, func() string { <-d.came; return "" })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	began := time.Now()
	in := r.Interpreter()
	in.Ahead, in.Host = true, r.Host()
	if _, err := in.Apply(ctx, r.request(a(fetching()))); err == nil {
		t.Error("it succeeds")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
