//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hostler/interpreter/delivery"
	"hostler/testdata/lab"
)

const (
	firstSecret = "abcdef.0123456789abcdef"
	kvpPool     = "/var/lib/hyperv/.kvp_pool_1"
	firstObject = "/apis/example.com/v1/machines/w1"
	firstPrefix = "/opt/first"
)

// firstUnit is the unit of a first boot, below a prefix of its own, with the token
// as a credential. It is not tried again here.
func firstUnit() map[string]string {
	boot := delivery.Boot{Prefix: firstPrefix, Recipe: "/root/trial.hcl", Credentials: map[string]string{"token": "/etc/first-token"}}
	return map[string]string{
		"/etc/systemd/system/first.service": boot.Text(), "/etc/systemd/system/first.service.d/once.conf": "[Service]\nRestart=no\n",
		"/etc/first-token": firstSecret,
	}
}

// told is a status as a webhook and a file sink get it.
type told struct {
	Result, Stage, Step, Reason, Cause, Advice, Phase, Recipe, Command, Host string
}

// receivers are a webhook receiver and an API server with one object.
type receivers struct {
	mu     sync.Mutex
	hooks  []told
	object map[string]any
	bad    []string
	// spoil, if set, spoils an answer; true says that it is given.
	spoil func(w http.ResponseWriter, r *http.Request) bool
}

func (r *receivers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	spoil := r.spoil
	r.mu.Unlock()
	if spoil != nil && spoil(w, req) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Header.Get("Authorization") != "Bearer "+firstSecret || strings.Contains(string(body), firstSecret) {
		r.bad = append(r.bad, req.Method+" "+req.URL.Path+": "+string(body))
	}
	switch req.Method + " " + req.URL.Path {
	case "POST /hook":
		var s told
		if err := json.Unmarshal(body, &s); err != nil {
			r.bad = append(r.bad, err.Error())
		}
		r.hooks = append(r.hooks, s)
		return
	case "POST " + strings.TrimSuffix(firstObject, "/w1"):
		_ = json.Unmarshal(body, &r.object)
		r.object["metadata"].(map[string]any)["resourceVersion"] = "1"
	case "PATCH " + firstObject + "/status":
		var patch map[string]any
		_ = json.Unmarshal(body, &patch)
		r.object["status"] = patch["status"]
	}
	if r.object == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(r.object)
}

func (r *receivers) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooks, r.object = nil, nil
}

// last are the last status that the webhook got and our condition.
func (r *receivers) last() (hook told, condition map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hooks) > 0 {
		hook = r.hooks[len(r.hooks)-1]
	}
	status, _ := r.object["status"].(map[string]any)
	all, _ := status["conditions"].([]any)
	for _, c := range all {
		condition, _ = c.(map[string]any)
	}
	return hook, condition
}

// first is a host with the receivers of its status.
type first struct {
	*site
	*receivers
	url, authority string
}

func newFirst(t *testing.T) *first {
	f := &first{receivers: &receivers{}}
	url, authority := lab.ServeTLS(t, f.receivers)
	f.url, f.authority = url, string(authority)
	files := firstUnit()
	files[kvpPool] = string(append(append([]byte("other"), make([]byte, 507)...), append([]byte("kept"), make([]byte, 2044)...)...))
	f.site = settle(t, lab.Options{Files: files})
	return f
}

// recipe writes a recipe of steps that tells all kinds of sinks.
func (f *first) recipe(timeout, steps string) {
	f.t.Helper()
	ca := fmt.Sprintf("timeout = %q\n  %%s {\n    %%s\n    token = var.token\n    ca_certificate = <<-PEM\n%sPEM\n  }\n}\n", timeout, f.authority)
	f.write("variable \"token\" {\n  type = string\n  sensitive = true\n}\n" +
		"status_sink \"console\" {\n  console {}\n}\nstatus_sink \"file\" {\n  file {\n    path = \"/run/first/status.json\"\n  }\n}\n" +
		"status_sink \"kvp\" {\n  hyperv_kvp {}\n}\nstatus_sink \"metrics\" {\n  metrics {\n    directory = \"/run/first\"\n  }\n}\n" +
		"status_sink \"hook\" {\n  " + fmt.Sprintf(ca, "webhook", fmt.Sprintf("url = %q", f.url+"/hook")) +
		"status_sink \"object\" {\n  " + fmt.Sprintf(ca, "kubernetes", fmt.Sprintf("server = %q\n    object = %q\n    condition = \"HostReady\"\n    "+
		"create = jsonencode({ apiVersion = \"example.com/v1\", kind = \"Machine\", metadata = { name = \"w1\" } })", f.url, firstObject)) + steps)
}

// boot runs the first boot; its unit ends as it does. A reset has taken the
// delivered program away.
func (f *first) boot() {
	f.MustExec("install", "-D", program, delivery.Program(firstPrefix))
	f.Exec("systemctl", "start", "first.service")
}

func (f *first) kvp() map[string]string {
	pool, all := f.Pull(kvpPool), map[string]string{}
	for ; len(pool) >= 2560; pool = pool[2560:] {
		key, _, _ := bytes.Cut(pool[:512], []byte{0})
		value, _, _ := bytes.Cut(pool[512:2560], []byte{0})
		all[string(key)] = string(value)
	}
	if len(pool) > 0 {
		f.t.Errorf("%d bytes stand behind the last record", len(pool))
	}
	return all
}

// fault is a first boot that fails, and what is to be told of it.
type fault struct {
	name, steps          string
	stage, step, reason  string
	cause, advice, phase string
}

// TestFirstBootFails lets a first boot fail at every stage in turn: console,
// status file, journal, Hyper-V pool, webhook and condition say where, why and
// what to do, and no secret.
func TestFirstBootFails(t *testing.T) {
	t.Parallel()
	f := newFirst(t)
	images := lab.Registry(t)
	image := images.Push("guest:1", lab.GuestLayer(t))
	served := lab.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other bytes\n") }))
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("the bytes\n")))
	machineOf := func(ref, more string) string {
		return "nspawn_machine \"kube1\" {\n  rootfs {\n    image = \"" + ref + "\"\n  }\n  settings {\n    network = { VirtualEthernet = \"no\" }\n  }\n" + more + "}\n"
	}
	for _, c := range []fault{
		{
			name: "missing tool", stage: "host", step: "require_capability.tool", reason: "RequirementNotMet", cause: "no-such-tool", advice: "install the package", phase: "absent",
			steps: "require_capability \"tool\" {\n  executable = \"no-such-tool\"\n}\n",
		},
		{
			name: "bad digest", stage: "fetch", step: "download.tool", reason: "ToolDamaged", cause: digest, advice: "hostler ensure", phase: "installing",
			steps: "download \"tool\" {\n  failure_reason = \"ToolDamaged\"\n  url = \"" + served + "/tool\"\n  sha256 = \"" + digest + "\"\n  path = \"/opt/tool\"\n}\n",
		},
		{
			name: "registry down", stage: "image/rootfs", step: "nspawn_machine.kube1", reason: "NetworkFailed", cause: "127.0.0.1:9", advice: "reaches the server", phase: "installing",
			steps: machineOf("127.0.0.1:9/worker:1", ""),
		},
		{
			name: "unit that crashes", stage: "service", step: "systemd_unit[\"crash.service\"]", reason: "UnitFailed", cause: "(sensitive)", advice: "systemctl status crash.service", phase: "installing",
			steps: "write_file_if_changed \"token\" {\n  path = \"/etc/crash-token\"\n  mode = \"0600\"\n  content = var.token\n}\n" +
				"systemd_unit \"crash.service\" {\n  restart = \"never\"\n  state = \"started\"\n  content = \"[Service]\\nExecStart=/bin/sh -c 'echo refused: $$(cat /etc/crash-token); sleep 0.3; exit 3'\\n\"\n}\n",
		},
		{
			name: "machine that is never ready", stage: "node/ready", step: "nspawn_machine.kube1", reason: "NodeNotReady", cause: "not ready after 2s", advice: "hostler ensure", phase: "installing",
			steps: machineOf(image, "  failure_reason = \"NodeNotReady\"\n  ready {\n    file = \"/run/never\"\n    timeout = \"2s\"\n    interval = \"500ms\"\n  }\n"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := *f
			here.site = &site{f.Host, t}
			here.fails(c)
		})
	}
	if len(f.bad) > 0 {
		t.Errorf("requests without the token, or with a secret in them: %q", f.bad)
	}
}

func (f *first) fails(c fault) {
	stage, _, _ := strings.Cut(c.stage, "/")
	f.forget()
	console := len(f.Console())
	f.recipe("10s", "stage \""+stage+"\" {\n"+c.steps+"}\n")
	f.boot()
	if p := f.show("", "first.service"); p["Result"] != "exit-code" {
		f.t.Fatalf("the first boot ends with %s", p["Result"])
	}
	var file told
	if err := json.Unmarshal(f.Pull("/run/first/status.json"), &file); err != nil {
		f.t.Fatal(err)
	}
	if file.Result != "failed" || file.Stage != c.stage || file.Step != c.step || file.Reason != c.reason || !strings.Contains(file.Cause, c.cause) ||
		!strings.Contains(file.Advice, c.advice) || file.Phase != c.phase || file.Recipe != "trial" || file.Command != "ensure" || file.Host == "" {
		f.t.Errorf("the status file: %+v", file)
	}
	hook, condition := f.last()
	if hook != file {
		f.t.Errorf("the webhook was told %+v,\nthe file %+v\n%s", hook, file, f.MustExec(program, "history", "show"))
	}
	message, _ := condition["message"].(string)
	if condition["type"] != "HostReady" || condition["status"] != "False" || condition["reason"] != c.reason || !strings.Contains(message, c.step) || !strings.Contains(message, file.Advice[:20]) {
		f.t.Errorf("the condition: %v", condition)
	}
	pool := f.kvp()
	for _, part := range []string{"result=failed|reason=" + c.reason + "|", "|stage=" + c.stage + "|step=" + c.step + "|", "|cause=" + oneLine(file.Cause)[:15], "|advice=" + file.Advice[:20]} {
		if !strings.Contains(pool["hostler"], part) {
			f.t.Errorf("%q is not in the pool: %q", part, pool["hostler"])
		}
	}
	if pool["other"] != "kept" {
		f.t.Errorf("the pool: %q", pool)
	}
	f.told(c, file, f.Console()[console:])
	if c.phase != "absent" {
		f.MustExec(program, "reset")
	}
	f.MustExec("systemctl", "reset-failed", "first.service")
}

// told holds the console and the journal to what the file says.
func (f *first) told(c fault, file told, console string) {
	f.t.Helper()
	line := "hostler ensure trial: failed: stage " + c.stage + ": " + c.step + ": " + c.reason + ": "
	if !strings.Contains(oneLine(console), line) {
		f.t.Errorf("%q is not on the console:\n%s", line, console)
	}
	found := f.journal("--unit=first.service", "HOSTLER_RESULT=failed", "HOSTLER_REASON="+c.reason, "HOSTLER_FAILED_STAGE="+c.stage, "HOSTLER_FAILED_STEP="+c.step)
	if len(found) != 1 || found[0]["HOSTLER_CAUSE"] == nil || found[0]["HOSTLER_ADVICE"] != file.Advice || found[0]["PRIORITY"] != "3" {
		f.t.Errorf("the journal: %v", found)
	}
	for name, text := range map[string]string{
		"console": console, "pool": fmt.Sprint(f.kvp()), "history": f.MustExec(program, "history", "show", "--output", "json"), "metrics": string(f.Pull("/run/first/hostler.prom")),
		"file": fmt.Sprint(file), "journal": f.MustExec("journalctl", "--output=json", "_COMM=hostler"),
	} {
		if strings.Contains(text, firstSecret) {
			f.t.Errorf("the secret is in the %s:\n%s", name, text)
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestSinksNeverDelay: whatever the receivers do, a run ends within the bound of
// its sinks, and ends well.
func TestSinksNeverDelay(t *testing.T) {
	t.Parallel()
	f := newFirst(t)
	const bound = 2 * time.Second
	stop := make(chan struct{})
	defer close(stop)
	steps := "write_file_if_changed \"motd\" {\n  path = \"/etc/motd.d/first\"\n  content = \"%d\"\n}\n"
	n := 0
	run := func() (time.Duration, outcome) {
		n++
		f.recipe(bound.String(), fmt.Sprintf(steps, n))
		began := time.Now()
		o := eventsOf(t, f.Exec("env", "HOSTLER_VAR_token="+firstSecret, program, "apply", "/root/trial.hcl", "--output", "json"))
		return time.Since(began), o
	}
	usual, o := run()
	if o.Code != 0 || o.warnings() != "" {
		t.Fatalf("%s\n%s", o, o.warnings())
	}
	for name, spoil := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"slow": func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return true
		},
		"500": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true },
		"cut": func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"late": func(http.ResponseWriter, *http.Request) bool { // in time, for the bound
			time.Sleep(300 * time.Millisecond)
			return false
		},
	} {
		f.mu.Lock()
		f.spoil = spoil
		f.mu.Unlock()
		took, o := run()
		if o.Code != 0 || o.last().Result != "ok" || took > usual+bound+2*time.Second {
			t.Errorf("%s: after %s (usually %s): %s", name, took, usual, o)
		}
		if warned := strings.Count(o.warnings(), "Status not told"); warned != 2 && name != "late" || name == "late" && warned != 0 || strings.Contains(o.warnings(), firstSecret) {
			t.Errorf("%s: %s", name, o.warnings())
		}
	}
	// What could not be told is told by the next run that has something to say.
	f.mu.Lock()
	f.spoil = nil
	f.mu.Unlock()
	if _, o := run(); o.Code != 0 {
		t.Fatal(o)
	}
	if hook, condition := f.last(); hook.Result != "ok" || hook.Phase != "complete" || condition["status"] != "True" || condition["reason"] != "Succeeded" {
		t.Errorf("%+v, %v", hook, condition)
	}
	supportOf(t, f)
}

// supportOf gathers what a supporter needs: it is all there, and no secret.
func supportOf(t *testing.T, f *first) {
	t.Helper()
	names := []string{}
	for r := tar.NewReader(strings.NewReader(f.Exec(program, "support", "--file", "-").Stdout)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(h.Name, "hostler-support/"))
		if text, _ := io.ReadAll(r); strings.Contains(string(text), firstSecret) {
			t.Errorf("%s holds the secret", h.Name)
		}
	}
	for _, name := range []string{"status.json", "facts.json", "plan.json", "record.json", "history/000001.json", "machines.json", "units.json"} {
		if !slices.Contains(names, name) {
			t.Errorf("no %s among %q", name, names)
		}
	}
}

// whyAnswers: why knows the step, and where it is written, of every path and
// unit that the recipe owns.
func whyAnswers(t *testing.T, w *worker) {
	var rec struct {
		Claims []struct {
			Thing string
			Step  *struct{ Address string }
		}
	}
	if err := json.Unmarshal(w.Pull(recordFile), &rec); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, c := range rec.Claims {
		_, inner, inside := strings.Cut(c.Thing, "/")
		if !inside || !strings.HasPrefix(c.Thing, "machine:") {
			inner = c.Thing
		}
		if c.Step == nil || !strings.HasPrefix(inner, "unit-active:") && !strings.HasPrefix(inner, "path:") {
			continue
		}
		asked++
		why, code := document[struct {
			Recipe string
			Owners []struct {
				Thing, Step, Filename, Origin string
				Line                          int
				Changes                       []struct{ Run int }
			}
		}](w.site, "why", strings.Replace(c.Thing, "unit-active:", "unit:", 1))
		known := false
		for _, o := range why.Owners {
			known = known || o.Thing == c.Thing && o.Step == c.Step.Address && o.Line > 0 && strings.HasSuffix(o.Filename, ".hcl") && o.Origin != "" && len(o.Changes) > 0
		}
		if code != 0 || why.Recipe == "" || !known {
			t.Errorf("%s of %s: exit code %d, %+v", c.Thing, c.Step.Address, code, why)
		}
	}
	if asked < 10 {
		t.Errorf("only %d things were asked about", asked)
	}
}

// TestOperatingGuide does what docs/guides/operating.md says, line by line.
func TestOperatingGuide(t *testing.T) {
	t.Parallel()
	follow(t, up(t, lab.Options{}), "operating.md", "/srv/site/recipe.hcl")
}
