package operate_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"hostler/builtins"
	"hostler/interpreter"
	"hostler/interpreter/eval"
	"hostler/interpreter/history"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/operate"
	"hostler/interpreter/sink"
)

const header = `recipe "site" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({})
  supports "debian" { id = "debian" }
}
variable "token" {
  type      = string
  default   = null
  sensitive = true
}
status_sink "file" {
  file { path = "/run/site/status.json" }
}
status_sink "metrics" {
  metrics { directory = "/run/site" }
}
status_sink "console" {
  console {}
}
status_sink "hook" {
  timeout = "300ms"
  webhook { url = "http://hooks.example/status" }
}
`

// rig is a host in memory with a receiver of statuses.
type rig struct {
	testing.TB
	*memory.Memory
	mu   sync.Mutex
	told []sink.Status
	// down makes the receiver fail.
	down bool
}

func newRig(t testing.TB, o memory.Options) *rig {
	r := &rig{TB: t}
	o.Network.HTTP = map[string]http.Handler{"hooks.example": http.HandlerFunc(r.receive)}
	if o.Files == nil {
		o.Files = map[string]memory.File{}
	}
	o.Files["/dev/console"] = memory.File{}
	r.Memory = memory.New(o)
	return r
}

func (r *rig) receive(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s sink.Status
	if err := json.NewDecoder(req.Body).Decode(&s); err != nil || r.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.told = append(r.told, s)
}

// last is what the receiver was told last, and how often it was.
func (r *rig) last() (sink.Status, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.told) == 0 {
		return sink.Status{}, 0
	}
	return r.told[len(r.told)-1], len(r.told)
}

func (r *rig) interpreter(command string) *interpreter.Interpreter {
	h := r.Host()
	return &interpreter.Interpreter{
		Vocabulary: builtins.Vocabulary(), Host: h, Rand: rand.NewChaCha8([32]byte{1}),
		Program: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil },
		Holder:  host.Holder{PID: 1, Command: "hostler " + command}, Attend: operate.Attend(h, "0.1.0"),
	}
}

func (r *rig) request(body string, vars ...string) (req interpreter.Request) {
	r.Helper()
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		req.Given = append(req.Given, eval.Given{Strength: eval.FromCredential, Name: name, Text: []byte(value)})
	}
	if body == "" {
		return req
	}
	fsys := fstest.MapFS{"recipe.hcl": {Data: []byte(header + body)}}
	req.Bundle = interpreter.NewBundle()
	recipe, diags := eval.Load(req.Bundle.Source(eval.Tree("test:", fsys, ".")), builtins.Vocabulary(), req.Bundle.Loader(eval.StandardLoader{}), "")
	if diags.HasErrors() {
		r.Fatal(diags)
	}
	req.Recipe = recipe
	return req
}

func (r *rig) apply(body string, vars ...string) (interpreter.Outcome, error) {
	r.Helper()
	return r.interpreter("apply").Apply(context.Background(), r.request(body, vars...))
}

func (r *rig) ensure(vars ...string) (interpreter.Outcome, error) {
	r.Helper()
	return r.interpreter("ensure").Ensure(context.Background(), r.request("", vars...))
}

func (r *rig) read(name string) string {
	r.Helper()
	f, err := r.Host().Files.Open(name)
	if err != nil {
		r.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		r.Fatal(err)
	}
	return string(data)
}

// file is the status in the file sink.
func (r *rig) file() (s sink.Status) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.read("/run/site/status.json")), &s); err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *rig) runs() []*history.Run {
	r.Helper()
	runs, damaged, err := history.List(r.Host().Files)
	if err != nil || damaged != nil {
		r.Fatal(err, damaged)
	}
	return runs
}

// kept is everything on the host but what a boot clears.
func (r *rig) kept() map[string]memory.Entry { return r.Snapshot("/run", "/proc", "/sys", "/dev") }
