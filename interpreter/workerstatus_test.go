package interpreter_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hostler/interpreter"
	"hostler/interpreter/host"
	"hostler/interpreter/host/memory"
	"hostler/interpreter/operate"
	"hostler/interpreter/walk"
)

// TestR076WorkerReasons: wherever a worker fails, programs are told the class of
// it.
func TestR076WorkerReasons(t *testing.T) {
	job := func(unit string) func(*rig) {
		return func(r *rig) { r.FailJob(host.JobStart, unit, "failed") }
	}
	root := func(files map[string]string) func(*rig) {
		return func(r *rig) { r.put("/srv/node.tar", image(t, files)) }
	}
	none := func(*rig) {}
	for _, c := range []struct {
		what, reason, stage string
		vars                []string
		spoil               func(*rig)
	}{
		{"no image", "RootFSFailed", "node/rootfs", nil, func(r *rig) { r.put("/srv/node.tar", "no tar") }},
		{"another digest", "ProgramsFailed", "programs", []string{`programs={ runc = { sha256 = "` + strings.Repeat("0", 64) + `" } }`}, none},
		{"no machine", "MachineStartFailed", "node/boot", nil, job("systemd-nspawn@kube1.service")},
		{"no runtime", "ContainerdFailed", "node/after_boot", nil, job("kube1/containerd.service")},
		{"no kubelet", "KubeletBootstrapFailed", "node/after_boot", nil, job("kube1/kubelet.service")},
		{"no certificate", "KubeletBootstrapFailed", "node/ready", nil, root(nil)},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := workerRig(t, aclWorker)
			c.spoil(r)
			if e := fails[*walk.StepError](r, apply, worker(aclWorker, c.vars...)); e.Reason != c.reason || e.Stage != c.stage {
				t.Errorf("%s in stage %s, want %s in %s: %v", e.Reason, e.Stage, c.reason, c.stage, e)
			}
		})
	}
}

// TestNspawnWorkerReasons: the same of the worker without Kubernetes.
func TestNspawnWorkerReasons(t *testing.T) {
	const dir = "../recipes/debian/12/nspawn-worker"
	for _, c := range []struct {
		what, reason, stage string
		spoil               func(*rig)
	}{
		{"no image", "RootFSFailed", "machine/rootfs", func(r *rig) { r.put("/srv/one.tar", "no tar") }},
		{"no machine", "MachineStartFailed", "machine/boot", func(r *rig) { r.FailJob(host.JobStart, "systemd-nspawn@worker1.service", "failed") }},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := shippedAs(t, dir)
			r := newRig(t, s.opts(t))
			c.spoil(r)
			if e := fails[*walk.StepError](r, apply, s.v1); e.Reason != c.reason || e.Stage != c.stage {
				t.Errorf("%s in stage %s, want %s in %s: %v", e.Reason, e.Stage, c.reason, c.stage, e)
			}
		})
	}
}

// workerTold is what a webhook and the API server of a worker are told.
type workerTold struct {
	mu     sync.Mutex
	hook   map[string]any
	object map[string]any
	tokens map[string]bool
}

func (w *workerTold) ServeHTTP(res http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(req.Body)
	switch path := strings.TrimPrefix(req.URL.Path, "/apis/example.com/v1/machines"); {
	case req.URL.Path == "/hook":
		w.hook = nil
		_ = json.Unmarshal(body, &w.hook)
	case path == req.URL.Path:
		res.WriteHeader(http.StatusUnauthorized) // /readyz
		return
	case req.Method == http.MethodPost && path == "", req.Method == http.MethodPatch && path == "/host/status":
		_ = json.Unmarshal(body, &w.object)
	case w.object == nil || path != "/host":
		res.WriteHeader(http.StatusNotFound)
		return
	}
	w.tokens[req.Host+" "+req.Header.Get("Authorization")] = true
	_ = json.NewEncoder(res).Encode(w.object)
}

// condition is the status and reason of the object's condition.
func (w *workerTold) condition() string {
	status, _ := w.object["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	if len(list) != 1 {
		return ""
	}
	c, _ := list[0].(map[string]any)
	return c["type"].(string) + " " + c["status"].(string) + " " + c["reason"].(string)
}

// TestWorkerStatus: a worker tells Hyper-V where that is, and whom the site
// names. Its condition is told with the bootstrap token, which a later run need
// not have.
func TestWorkerStatus(t *testing.T) {
	const pool = "/var/lib/hyperv/.kvp_pool_1"
	told := &workerTold{tokens: map[string]bool{}}
	r := workerRig(t, aclWorker, func(o *memory.Options) {
		o.Network.HTTP["hooks.example.com"], o.Network.HTTP["api.example.com:6443"] = told, told
		o.Files[pool], o.Files["/dev/console"] = memory.File{}, memory.File{}
	})
	attended := func(do verb, g given) error {
		in := r.Interpreter()
		in.Attend = operate.Attend(r.Host(), "0.1.0")
		out, err := do(in, context.Background(), r.request(g))
		for _, w := range out.Warnings {
			if strings.Contains(w.Summary, "told") {
				t.Logf("%s: %s", w.Summary, w.Detail)
			}
		}
		return err
	}
	site := worker(aclWorker, "status_token=hook-secret", `status={
		console = true, file = "/run/site/status.json", metrics = "/run/site", timeout = "2s"
		webhook   = { url = "https://hooks.example.com/hook" }
		condition = {
			object = "/apis/example.com/v1/machines/{node}"
			create = { apiVersion = "example.com/v1", kind = "Machine", metadata = { name = "{node}" }, spec = { version = "1.34.4" } }
		}
	}`)
	r.FailJob(host.JobStart, "kube1/kubelet.service", "failed")
	if err := attended(apply, site); err == nil {
		t.Fatal("it does not fail")
	}
	if told.hook["reason"] != "KubeletBootstrapFailed" || told.hook["step"] != `use.worker.nspawn_machine.node.systemd_unit.kubelet_runs` {
		t.Errorf("the webhook: %v", told.hook)
	}
	if got := told.condition(); got != "HostReady False KubeletBootstrapFailed" {
		t.Errorf("the condition: %q of %v", got, told.object)
	}
	r.FailJob(host.JobStart, "kube1/kubelet.service", "")
	r.ok(attended(apply, site))
	if got := told.condition(); got != "HostReady True Succeeded" || told.object["spec"] == nil || told.hook["result"] != "ok" {
		t.Errorf("the condition: %q of %v; the webhook: %v", got, told.object, told.hook)
	}
	for token := range told.tokens {
		if token != "hooks.example.com Bearer hook-secret" && token != "api.example.com:6443 Bearer abcdef.0123456789abcdef" {
			t.Errorf("asked with %q", token)
		}
	}
	for name, want := range map[string]string{
		pool: "result=ok", "/run/site/status.json": `"result": "ok"`, "/run/site/hostler.prom": `hostler_phase{phase="complete"} 1`, "/dev/console": "hostler test kubernetes_worker: ok",
	} {
		if text := r.read(name); !strings.Contains(text, want) || strings.Contains(text, "0123456789abcdef") || strings.Contains(text, "hook-secret") {
			t.Errorf("%s: %q", name, text)
		}
	}
	r.put(inside+"/etc/hostname", "edited\n")
	r.ok(attended(ensure, nothing))
	r.want(inside+"/etc/hostname", "host\n")
}

// TestWorkerStatusByDefault: without a word about it a worker tells Hyper-V, and
// nothing where there is none.
func TestWorkerStatusByDefault(t *testing.T) {
	const pool = "/var/lib/hyperv/.kvp_pool_1"
	for _, there := range []bool{true, false} {
		r := workerRig(t, aclWorker, func(o *memory.Options) {
			if there {
				o.Files[pool] = memory.File{}
			}
		})
		in := r.Interpreter()
		in.Attend = operate.Attend(r.Host(), "0.1.0")
		out, err := (*interpreter.Interpreter).Apply(in, context.Background(), r.request(worker(aclWorker)))
		r.ok(err)
		if text := r.read(pool); there != strings.Contains(text, "result=ok") || there == (text == "(absent)") {
			t.Errorf("pool %v: %q", there, text)
		}
		for _, w := range out.Warnings {
			if strings.Contains(w.Detail, "status_sink") {
				t.Errorf("pool %v: %s: %s", there, w.Summary, w.Detail)
			}
		}
	}
}
